#include "proxy/core/watch.h"

#include <utility>

namespace portico::core {

Watch::Watch(Loop& loop, ReadyListener& listener) : loop_(loop), listener_(listener) {
  ev_init(&watcher_, &Watch::on_event);
  watcher_.data = this;
}

Watch::~Watch() { close(); }

void Watch::open(int fd) {
  close();
  ev_io_set(&watcher_, fd, 0);
  wanted_ = 0;
}

// libev tells the kernel once a turn at most, and only what differs in the end: ev_io_modify, as
// ev_io_set would make it tell in any case.
void Watch::want(int readiness) {
  unlink();
  if (active_ ? readiness == wanted_ : readiness == 0) return;
  if (active_) ev_io_stop(loop_.events(), &watcher_);
  active_ = false;
  wanted_ = readiness;
  if (readiness != 0) start();
}

void Watch::want_soon(int readiness) {
  if (active_ || readiness == 0 || loop_.events() == nullptr) return want(readiness);
  wanted_ = readiness;
  if (!linked()) loop_.start_soon(*this);
}

void Watch::start() {
  active_ = true;
  if (loop_.events() == nullptr) return;  // by hand: nothing is watched
  ev_io_modify(&watcher_, wanted_);
  ev_io_start(loop_.events(), &watcher_);
}

void Watch::close() {
  unlink();
  if (active_) ev_io_stop(loop_.events(), &watcher_);
  active_ = false;
}

void Watch::on_event(struct ev_loop*, ev_io* watcher, int readiness) noexcept {
  static_cast<Watch*>(watcher->data)->listener_.on_ready(readiness);
}

SignalWatch::SignalWatch(Active& owner, int signal) : owner_(owner) {
  ev_signal_init(&watcher_, &SignalWatch::on_signal, signal);
  watcher_.data = this;
  ev_signal_start(owner_.loop().events(), &watcher_);
}

SignalWatch::~SignalWatch() { ev_signal_stop(owner_.loop().events(), &watcher_); }

void SignalWatch::on_signal(struct ev_loop*, ev_signal* watcher, int) noexcept {
  auto* self = static_cast<SignalWatch*>(watcher->data);
  ++self->count_;
  self->owner_.wake();
}

}  // namespace portico::core
