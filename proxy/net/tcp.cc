#include "proxy/net/tcp.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "proxy/net/plain_call.h"
#include "proxy/net/read_arena.h"
#include "proxy/net/socket.h"

namespace portico::net {
namespace {

using core::Error;
using core::Fault;
using core::Flow;

// One connection's share of a turn: a peer on the same machine takes as fast as we send.
constexpr std::uint64_t flush_budget = 1024 * 1024;
// What one splice asks for: the capacity that core::lease_pipe() gives a pipe.
// On loopback a relay over pipes of this size took half the CPU of one over 128 KiB blocks.
constexpr std::size_t splice_bytes = 256 * 1024;
// With less room a pipe does not pay, and a slow peer's pipe would pin what it holds.
constexpr std::size_t least_splice = 128 * 1024;

Error receive_error(int os) {
  const Fault fault =
      os == ECONNRESET || os == EPIPE ? Fault::endpoint_reset : Fault::endpoint_closed;
  return {fault, os, "receiving"};
}

}  // namespace

SocketTransport::SocketTransport(core::Loop& loop, core::Fd fd, FirstWord first)
    : fd_(std::move(fd)),
      reading_(first == FirstWord::ours ? Reading::drained : Reading::unknown),
      fresh_(first == FirstWord::peers),
      watch_(loop, *this) {
  watch_.open(fd_.get());
}

void SocketTransport::attach(core::Active* owner) {
  owner_ = owner;
  const bool news = reading_ != Reading::unknown && reading_ != Reading::drained;
  if (news) wake_owner();
  watch_for_events();
}

void SocketTransport::wake_owner() {
  if (owner_ != nullptr) owner_->wake();
}

void SocketTransport::watch_for_events() {
  const bool reads = !read_paused_ && reading_ != Reading::ended && reading_ != Reading::failed;
  const bool writes = blocked_ && !broken_;
  const int readiness = (reads ? core::readable : 0) | (writes ? core::writable : 0);
  if (fresh_) return watch_.want_soon(readiness);
  watch_.want(readiness);
}

void SocketTransport::expect_more() {
  if (!std::exchange(fresh_, false)) return;
  watch_for_events();
}

void SocketTransport::on_ready(int readiness) noexcept {
  if ((readiness & core::readable) != 0) note_readable();
  if ((readiness & core::writable) != 0) note_writable();
  watch_for_events();
}

// Level-triggered: an event that nobody answers would come again and again.
void SocketTransport::note_readable() {
  read_paused_ = reading_ == Reading::told;
  reading_ = Reading::told;
  wake_owner();
}

// The owner hears of it when it is time to fill the queue again, not each time the kernel takes a
// little.
void SocketTransport::note_writable() {
  if (!blocked_) return;
  if (push_out() != Flow::wait || unsent() < low_water) wake_owner();
}

Arrival SocketTransport::read(std::size_t room, Splice splice) {
  if (reading_ == Reading::drained || room == 0) return {};
  if (reading_ == Reading::ended) return {Flow::end, {}, {}};
  if (reading_ == Reading::failed) return {Flow::fail, {}, read_error_};
  const bool plenty = wide_ && room >= least_splice;
  return splice == Splice::allowed && plenty ? read_pipe(room) : read_slice(room);
}

Arrival SocketTransport::read_slice(std::size_t room) {
  ReadArena& arena = ReadArena::here();
  const ReadArena::Room into =
      arena.offer(std::min(room, wide_ ? ReadArena::largest_read : core::block_bytes));
  const ssize_t got = plain_recv(fd_.get(), into.bytes, into.size, MSG_DONTWAIT);
  if (got <= 0) return conclude_read(got < 0 ? errno : 0);
  const auto count = static_cast<std::size_t>(got);
  adapt(into.size, count);
  return {Flow::data, arena.take(count), {}};
}

// Short because of pages, not because the socket is empty: only EAGAIN says that.
Arrival SocketTransport::read_pipe(std::size_t room) {
  core::PipeLease pipe = core::lease_pipe();
  if (pipe == nullptr) return read_slice(room);
  const ssize_t got = ::splice(fd_.get(), nullptr, pipe->write_end.get(), nullptr,
                               std::min(room, splice_bytes), SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
  if (got <= 0) return conclude_read(got < 0 ? errno : 0);
  pipe->held = static_cast<std::size_t>(got);
  reading_ = Reading::unknown;
  wide_ = pipe->held >= core::block_bytes;  // else it has become a trickle
  return {Flow::data, core::PipeRange{std::move(pipe)}, {}};
}

// A read that filled its room is followed by a larger one.
void SocketTransport::adapt(std::size_t asked, std::size_t got) {
  if (got == asked) {
    reading_ = Reading::unknown;
    wide_ = true;
    return;
  }
  drained();
  if (got < core::block_bytes) wide_ = false;
}

void SocketTransport::drained() {
  reading_ = Reading::drained;
  read_paused_ = false;
  watch_for_events();
}

/// os  0: the peer's end; else errno
Arrival SocketTransport::conclude_read(int os) {
  if (os == EAGAIN || os == EINTR) {
    fresh_ = false;
    drained();
    return {};
  }
  if (os != 0) return read_failed(os);
  reading_ = Reading::ended;
  watch_for_events();
  return {Flow::end, {}, {}};
}

Arrival SocketTransport::read_failed(int os) {
  reading_ = Reading::failed;
  broken_ = true;
  read_error_ = receive_error(os);
  watch_for_events();
  return {Flow::fail, {}, read_error_};
}

Flow SocketTransport::flush() {
  if (send_error_.fault != Fault::none) return Flow::fail;
  if (blocked_) return Flow::wait;
  const Flow flow = push_out();
  watch_for_events();
  return flow;
}

Flow SocketTransport::push_out() {
  const SendQueue::Outcome outcome = queue_.send_to(fd_.get(), flush_budget, close_follows_);
  sent_ += outcome.sent;
  blocked_ = outcome.flow == Flow::wait;
  if (blocked_) fresh_ = false;
  if (outcome.flow == Flow::end && ending_ == Ending::asked) shut_down();
  if (outcome.flow == Flow::fail) {
    send_error_ = outcome.error;
    broken_ = outcome.error.fault != Fault::response_cut;
    queue_.clear();
  }
  if (outcome.flow != Flow::data) return outcome.flow;
  wake_owner();  // the budget is spent: others first
  return Flow::wait;
}

void SocketTransport::finish_sending() {
  if (ending_ != Ending::none) return;
  ending_ = Ending::asked;
  if (queue_.empty()) shut_down();
}

void SocketTransport::shut_down() {
  ending_ = Ending::done;
  ::shutdown(fd_.get(), SHUT_WR);
}

void SocketTransport::reset_on_close() {
  const linger reset{1, 0};
  ::setsockopt(fd_.get(), SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
}

std::uint64_t SocketTransport::acknowledged() const {
  const std::uint64_t pending = unacknowledged_bytes(fd_.get());
  return sent_ - std::min(sent_, pending);
}

}  // namespace portico::net
