// Demand: how many workers an application should have, by the requests that are there.
//
// A rule and no more, owned by a DemandWatch and told by it what is seen at each look: it reads no
// clock but the one passed in. One worker more is wanted when requests have waited for a moment
// although all that there should be are ready; one less when it was not needed for long enough. One
// was needed when more requests were there than the workers before it can run.
// portico.yaml(5), "WORKERS THAT COME AND GO".
#pragma once

#include <cstddef>
#include <vector>

#include "proxy/core/loop.h"

namespace portico::backend {

class Demand {
 public:
  /// How long requests wait before they want another worker: a burst that the present ones finish
  /// sooner needs none, and it is about what a fork takes. The first one is wanted at once.
  static constexpr core::Duration patience = std::chrono::milliseconds(100);

  struct Bounds {
    unsigned min;
    unsigned max;         ///< at least 1
    unsigned threads;     ///< of each worker
    core::Duration idle;  ///< how long one is not needed until it may go
  };
  explicit Demand(const Bounds& bounds)
      : bounds_(bounds), wanted_(bounds.min), levels_(bounds.max) {}

  unsigned wanted() const { return wanted_; }
  /// So many are there, whatever was wanted; they count as needed just now.
  void adopt(unsigned workers, core::Time now);
  /// What is seen now. True: another number is wanted than before.
  ///
  /// load      requests that run or wait
  /// capacity  threads of the workers that are ready
  bool look(std::size_t load, std::size_t capacity, core::Time now);
  /// When the last of them may go unless more comes; Time::max(): it stays.
  core::Time next_leave() const;

 private:
  static constexpr core::Time never = core::Time::min();

  struct Level {
    core::Time since = never;   // requests for it have been there at all looks; never: they are not
    core::Time needed = never;  // when last
  };
  void note(Level& level, bool has_requests, core::Duration wait, core::Time now);
  bool may_go(core::Time now) const;

  Bounds bounds_;
  unsigned wanted_;
  std::vector<Level> levels_;  // of the first worker, the second, ...
};

}  // namespace portico::backend
