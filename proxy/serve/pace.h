// Pace: tells a client that moves too little, without ever counting time in which it was not we who
// waited for it.
//
// A member of a body or of a session; one thread. The window is of waiting time: a body that an
// application takes slowly, or an answer that comes slowly, is not held against the client.
// (Slow bodies and slow reading, RFC 9110 §17.5.)
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "proxy/core/loop.h"

namespace portico::serve {

class Pace {
 public:
  bool waiting() const { return waiting_; }
  bool begun() const { return begun_; }

  /// We wait for the client from now on. `moved` counts the bytes so far, from any origin.
  void wait(core::Time now, std::uint64_t moved) {
    if (waiting_) return;
    if (!begun_) begin_window(moved);
    waiting_ = true;
    since_ = now;
  }
  /// We do not wait for it any more.
  void go_on(core::Time now) {
    if (!waiting_) return;
    waited_ += now - since_;
    waiting_ = false;
  }

  /// While waiting: when to ask too_slow().
  core::Time deadline(core::Duration window) const {
    return since_ + std::max(window - waited_, core::Duration::zero());
  }
  /// At the deadline. False: enough has moved, and the next window has begun.
  bool too_slow(core::Time now, std::uint64_t moved, core::Duration window, std::uint64_t rate) {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(window).count();
    const std::uint64_t least = rate * static_cast<std::uint64_t>(seconds);
    if (moved - moved_before_ < std::max<std::uint64_t>(least, 1)) return true;
    begin_window(moved);
    since_ = now;
    return false;
  }

 private:
  void begin_window(std::uint64_t moved) {
    begun_ = true;
    moved_before_ = moved;
    waited_ = {};
  }

  bool begun_ = false;
  bool waiting_ = false;
  core::Time since_{};              // waiting began; while waiting_
  core::Duration waited_{};         // in this window, before since_
  std::uint64_t moved_before_ = 0;  // when this window began
};

}  // namespace portico::serve
