// For tests over real descriptors: an Active made of a lambda, and a run of the loop that cannot
// hang. Nothing here sleeps: whoever has seen what it waits for calls loop.stop().
#pragma once

#include <chrono>
#include <functional>
#include <utility>

#include "proxy/core/loop.h"
#include "proxy/core/timer.h"

namespace portico::tests {

/// Runs a function at each wake.
class Agent final : public core::Active {
 public:
  Agent(core::Loop& loop, std::function<void()> act) : Active(loop), act_(std::move(act)) {}
  void advance() override {
    ++runs;
    act_();
  }
  int runs = 0;

 private:
  std::function<void()> act_;
};

/// Runs the loop until somebody stops it; false: the deadline stopped it.
inline bool run_loop(core::Loop& loop, core::Duration limit = std::chrono::seconds(20)) {
  bool late = false;
  Agent alarm(loop, [&] {
    late = true;
    loop.stop();
  });
  core::Timer deadline(alarm);
  deadline.set(core::Clock::now() + limit);
  loop.run();
  return !late;
}

}  // namespace portico::tests
