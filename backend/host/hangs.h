// Hangs: who is over its time, and what is to be done about it when.
//
// Owned by an ApplicationService; its thread. It decides and does nothing itself: first the stacks
// are asked for, then, a moment later, comes the kill. A worker of which one thread hangs lives on
// while others still answer, within limits; TERM is never tried, for what hangs may not hear it.
#pragma once

#include <bitset>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "backend/record/control.h"
#include "proxy/core/loop.h"
#include "proxy/core/timer.h"

namespace portico::backend {

/// Threads of one worker by number; a claim cell has a byte for it.
using ThreadSet = std::bitset<256>;

class Hangs {
 public:
  /// The number of a worker; those begin at 1.
  using Id = std::uint16_t;
  static constexpr Id zygote = 0;  ///< while it imports
  /// From the request for stacks to the kill: writing them takes milliseconds, on a busy machine
  /// more.
  static constexpr core::Duration stack_time = std::chrono::seconds(1);

  enum class Step : std::uint8_t { show_stacks, kill };
  struct Order {
    Id id;
    Step step;
  };
  /// Whether threads of a worker other than these are at work.
  using IsBusy = std::function<bool(Id, const ThreadSet&)>;

  /// owner  is woken when something may be due
  explicit Hangs(core::Active& owner) : owner_(owner), timer_(owner) {}

  /// It must be ready, or have ended, by then; else it hangs.
  void expect(Id id, core::Time by);
  /// This thread hangs; the worker's others have `grace` to finish. False: that was known.
  bool blame(Id id, std::uint8_t thread, core::Duration grace);
  /// It is ready, or has ended.
  void forget(Id id) { cases_.erase(id); }
  bool hangs(Id id) const;

  /// What is to be done now; each step comes once for each thread that is blamed.
  std::vector<Order> due(const IsBusy& is_busy);

 private:
  struct Case {
    ThreadSet threads;      // that are blamed; none: it is late with its start or end
    core::Time stacks_at;   // when they are asked for; Time::max(): that was done
    core::Time kill_after;  // not before then; Time::max(): not decided, or done
    core::Time kill_by;     // whatever its other threads do
  };

  core::Time next_look(const Case& one, core::Time now) const;

  core::Active& owner_;
  std::map<Id, Case> cases_;
  core::Timer timer_;
};

/// "GET /page [id] runs for 2.0 s": what a `hanging` message says.
std::string describe_hanging(const record::ControlMessage& heard);
/// "GET /path [request ID]" of what the front says of a request.
std::string describe_request(const record::ControlMessage& heard);
/// "2.0 s"
std::string seconds_text(core::Duration time);

}  // namespace portico::backend
