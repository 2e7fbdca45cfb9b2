// IdleLimit: how long a connection to an endpoint may lie unused and still be trusted.
//
// Part of an endpoint's state, shared by the front threads (atomics). An application server closes
// idle connections after a time of its own; a request sent at that very moment is lost, and a POST
// cannot be sent again. So the limit is learned, from the endpoint's Keep-Alive field or from two
// closes in a row at about the same age, and connections are used up to a second short of it.
#pragma once

#include <atomic>
#include <cstdint>

#include "balancer/time.h"

namespace portico::balancer {

class IdleLimit {
 public:
  /// The endpoint says so itself ("Keep-Alive: timeout=5").
  void told(milliseconds limit, Time now);
  /// The endpoint closed a connection that had been idle for `age`. Ages under a second teach
  /// nothing: that is a restart, not a time limit.
  void closed_after(milliseconds age, Time now);

  /// configured  the longest that the operator allows
  /// Returns     how long a connection may lie idle and be used again
  milliseconds within(milliseconds configured, Time now) const;

 private:
  // After ten minutes the limit is learned anew: the endpoint may have been set up otherwise.
  static constexpr milliseconds memory = std::chrono::minutes(10);

  std::atomic<milliseconds::rep> limit_ = 0;  // 0: unknown
  std::atomic<Time::rep> learned_at_ = 0;
  std::atomic<milliseconds::rep> last_age_ = 0;  // of the latest close
};

}  // namespace portico::balancer
