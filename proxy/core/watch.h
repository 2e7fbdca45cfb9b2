// Watches: descriptors and signals, told to an object of ours. One thread; <ev.h> lives here and in
// loop.
#pragma once

#include <ev.h>

#include <utility>

#include "proxy/core/loop.h"

namespace portico::core {

enum Readiness : int { readable = EV_READ, writable = EV_WRITE };

/// Hears of readiness. on_ready must not destroy the watch nor run a state machine: it notes and
/// wakes.
class ReadyListener {
 public:
  virtual void on_ready(int readiness) noexcept = 0;

 protected:
  ~ReadyListener() = default;
};

/// Watches one descriptor, level-triggered, for what `want` was last told.
class Watch : public Link<Watch> {
 public:
  Watch(Loop& loop, ReadyListener& listener);
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  ~Watch();

  void open(int fd);         ///< nothing is wanted yet; the descriptor stays the caller's
  void want(int readiness);  ///< a set of Readiness; cheap when nothing changes
  /// Like want, but the kernel is told no sooner than Loop::soon from now: a new connection is
  /// often answered and closed before, and then costs no epoll_ctl.
  void want_soon(int readiness);
  int wanted() const { return active_ || linked() ? wanted_ : 0; }
  void close();  ///< must come before the descriptor is closed

 private:
  friend class Loop;
  static void on_event(struct ev_loop* events, ev_io* watcher, int readiness) noexcept;
  void start();

  Loop& loop_;
  ReadyListener& listener_;
  ev_io watcher_;
  int wanted_ = 0;
  bool active_ = false;
  Time start_at_{};  // while it stands in the loop's list of those that start soon
};

/// Wakes its owner when the process gets `signal`. Signals of one number belong to one loop.
class SignalWatch {
 public:
  SignalWatch(Active& owner, int signal);
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;
  ~SignalWatch();

  /// How many came since the last call; several at once may count as one.
  int take() { return std::exchange(count_, 0); }

 private:
  static void on_signal(struct ev_loop* events, ev_signal* watcher, int) noexcept;

  Active& owner_;
  ev_signal watcher_;
  int count_ = 0;
};

}  // namespace portico::core
