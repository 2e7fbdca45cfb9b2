// Backoff: how long to wait before something that died is started again.
//
// Owned by whoever restarts (the supervisor for the front, a service for its workers); reads no
// clock but the one passed in.
#pragma once

#include <algorithm>
#include <chrono>

#include "proxy/core/loop.h"

namespace portico::process {

class Backoff {
 public:
  static constexpr core::Duration shortest = std::chrono::milliseconds(100);
  static constexpr core::Duration longest = std::chrono::seconds(10);
  /// Who lived this long was well: what comes next is a new story.
  static constexpr core::Duration healthy = std::chrono::seconds(10);

  void started(core::Time now) { started_ = now; }
  /// It did what it is for (answered a request): earlier deaths do not count any more.
  void proved() { deaths_ = 0; }

  /// It died: 0.1 s, then twice as long after each death in a row, up to 10 s.
  core::Duration died(core::Time now) {
    if (now - started_ >= healthy) deaths_ = 0;
    const unsigned doublings = std::min(deaths_, most_doublings);
    ++deaths_;
    return std::min(longest, shortest * (1u << doublings));
  }
  unsigned deaths_in_a_row() const { return deaths_; }

 private:
  static constexpr unsigned most_doublings = 7;  // 12.8 s, above the longest

  core::Time started_;
  unsigned deaths_ = 0;
};

}  // namespace portico::process
