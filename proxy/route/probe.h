// Prober: asks every endpoint of every pool whether it is well, and resolves their names.
//
// One for the front, owned by front thread 0 and run on its loop; the results go into the shared
// state of the endpoints. Rules: balancer/health.h (rise and fall), conf::Health (what is asked).
#pragma once

#include <memory>

#include "proxy/core/loop.h"

namespace portico::route {

class Pools;

class Prober {
 public:
  /// Begins at once: every endpoint is asked, and so is each that a later snapshot brings.
  /// pools must outlive the prober.
  Prober(core::Loop& loop, Pools& pools);
  ~Prober();

 private:
  class Rounds;
  std::unique_ptr<Rounds> rounds_;
};

}  // namespace portico::route
