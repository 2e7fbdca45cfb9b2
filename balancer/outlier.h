// Outlier: passive marking. What requests themselves meet takes an endpoint out for a while.
//
// Part of an endpoint's state, shared by the front threads: atomics, since a mark that another
// thread sees one request later does no harm. Rules: `failures` in a row (connects that failed, and
// fresh connections that closed before any byte of an answer; a slow or odd answer is no failure)
// take the endpoint out for `interval`, then it is tried again; one more failure takes it out for
// twice as long, up to `longest`. A success ends the row; a good probe brings it back at once.
#pragma once

#include <atomic>
#include <cstdint>

#include "balancer/time.h"

namespace portico::balancer {

struct OutlierRule {
  unsigned failures = 3;  ///< in a row
  milliseconds interval = std::chrono::seconds(5);
  /// A minute: whoever mends an endpoint that is not probed should not wait longer for it.
  static constexpr milliseconds longest = std::chrono::seconds(60);
};

class Outlier {
 public:
  void failed(Time now, const OutlierRule& rule);
  /// Ends the row of failures; an answer that comes in while the endpoint is out does not return
  /// it.
  void succeeded(Time now);
  void forgive();  ///< a probe found it well: back at once, with a clean record

  bool out(Time now) const { return now < back_at(); }
  Time back_at() const;  ///< the past when it is not out

 private:
  std::atomic<unsigned> failures_ = 0;  // in a row
  std::atomic<unsigned> marks_ = 0;     // times taken out without a success between
  std::atomic<Time::rep> back_at_ = 0;
};

}  // namespace portico::balancer
