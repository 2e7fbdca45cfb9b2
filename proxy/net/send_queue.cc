#include "proxy/net/send_queue.h"

#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <span>
#include <utility>

#include "proxy/net/plain_call.h"

namespace portico::net {
namespace {

using core::Error;
using core::Fault;
using core::FileRange;
using core::Flow;
using core::PipeRange;
using core::Slice;

// A head, its body and what else a turn has made; the kernel copies up to 8 vectors without
// allocating, and IOV_MAX is 1024.
constexpr std::size_t most_vectors = 64;
// Four pieces: a head, a body and an end. Taken for each burst, given back after it.
constexpr std::size_t first_capacity = 4;
// How many empty vectors of that size a thread keeps: those of a busy turn.
constexpr std::size_t most_spare = 64;
// Slices that come to this are joined on the stack.
constexpr std::size_t cheap_copy = 2048;
// The kernel's own bound of one call (MAX_RW_COUNT), rounded down.
constexpr std::uint64_t longest_call = 1u << 30;

std::vector<std::vector<core::Piece>>& spare() {
  thread_local std::vector<std::vector<core::Piece>> mine;
  return mine;
}

void take_spare(std::vector<core::Piece>& pieces) {
  if (spare().empty()) return pieces.reserve(first_capacity);
  pieces = std::move(spare().back());
  spare().pop_back();
}

// The pieces have gone; their room stays, where it is of the usual size.
void give_spare(std::vector<core::Piece> pieces) {
  pieces.clear();
  if (pieces.capacity() == first_capacity && spare().size() < most_spare)
    spare().push_back(std::move(pieces));
}

// For one vector the plain call: it is the cheaper one, by more than it costs to copy little.
ssize_t send_vectors(int fd, std::span<iovec> vectors, std::size_t total, int flags) {
  if (vectors.size() == 1) return plain_send(fd, vectors[0].iov_base, vectors[0].iov_len, flags);
  if (total <= cheap_copy) {
    std::array<char, cheap_copy> joined;
    char* at = joined.data();
    for (const iovec& one : vectors)
      at = std::copy_n(static_cast<const char*>(one.iov_base), one.iov_len, at);
    return plain_send(fd, joined.data(), total, flags);
  }
  msghdr message{};
  message.msg_iov = vectors.data();
  message.msg_iovlen = vectors.size();
  return ::sendmsg(fd, &message, flags);
}

Fault fault_of(int os) {
  return os == ECONNRESET || os == EPIPE ? Fault::endpoint_reset : Fault::endpoint_closed;
}

}  // namespace

/// What one system call came to.
struct SendQueue::Step {
  enum class Next : std::uint8_t { again, blocked, failed } next;
  std::uint64_t sent = 0;
  Error error = {};

  static Step after_error(int os) {
    if (os == EINTR) return {Next::again};
    if (os == EAGAIN) return {Next::blocked};
    return {Next::failed, 0, {fault_of(os), os, "sending"}};
  }
};

void SendQueue::push(core::Piece&& piece) {
  const std::uint64_t size = core::length(piece);
  if (size == 0) return;
  if (pieces_.empty()) take_spare(pieces_);
  if (first_ > first_capacity && first_ * 2 > pieces_.size()) compact();
  bytes_ += size;
  if (auto* slice = std::get_if<Slice>(&piece)) {
    pieces_.emplace_back(std::move(*slice));  // nearly all are: no visit
  } else {
    pieces_.push_back(std::move(piece));
  }
}

// A queue that is filled before it is empty must not grow for ever.
void SendQueue::compact() {
  pieces_.erase(pieces_.begin(), pieces_.begin() + static_cast<std::ptrdiff_t>(first_));
  first_ = 0;
}

void SendQueue::clear() {
  give_spare(std::exchange(pieces_, {}));
  first_ = 0;
  bytes_ = 0;
}

SendQueue::Outcome SendQueue::send_to(int fd, std::uint64_t budget, bool hold) {
  std::uint64_t sent = 0;
  while (!empty()) {
    if (sent >= budget) return {Flow::data, sent, {}};
    const Step step = send_front(fd, budget - sent, hold);
    sent += step.sent;
    drop(step.sent);
    if (step.next == Step::Next::failed) return {Flow::fail, sent, step.error};
    if (step.next == Step::Next::blocked && !empty()) return {Flow::wait, sent, {}};
  }
  return {Flow::end, sent, {}};
}

SendQueue::Step SendQueue::send_front(int fd, std::uint64_t budget, bool hold) {
  core::Piece& front = pieces_[first_];
  if (auto* range = std::get_if<FileRange>(&front)) return send_file(fd, *range, budget);
  if (auto* range = std::get_if<PipeRange>(&front)) return send_pipe(fd, *range);
  return send_slices(fd, hold);
}

// A short write means a full buffer: asking once more would only cost a call. MSG_MORE lets a head
// wait for the file that follows it.
SendQueue::Step SendQueue::send_slices(int fd, bool hold) {
  std::array<iovec, most_vectors> vectors;
  std::size_t count = 0;
  std::size_t total = 0;
  std::size_t at = first_;
  for (; at < pieces_.size() && count < most_vectors; ++at) {
    auto* slice = std::get_if<Slice>(&pieces_[at]);
    if (slice == nullptr) break;
    vectors[count++] = {slice->mutable_data(), slice->size()};
    total += slice->size();
  }
  const int flags = MSG_NOSIGNAL | MSG_DONTWAIT | (hold || at < pieces_.size() ? MSG_MORE : 0);
  const ssize_t sent = send_vectors(fd, {vectors.data(), count}, total, flags);
  if (sent < 0) return Step::after_error(errno);
  const auto taken = static_cast<std::size_t>(sent);
  return {taken < total ? Step::Next::blocked : Step::Next::again, taken, {}};
}

SendQueue::Step SendQueue::send_file(int fd, FileRange& range, std::uint64_t budget) {
  const auto asked = static_cast<std::size_t>(
      std::min({range.length, longest_call, std::max<std::uint64_t>(budget, 1)}));
  off_t offset = static_cast<off_t>(range.offset);
  const ssize_t sent = ::sendfile(fd, range.file->get(), &offset, asked);
  if (sent < 0) return Step::after_error(errno);
  if (sent == 0)
    return {Step::Next::failed, 0, {Fault::response_cut, 0, "sending a file that became shorter"}};
  const auto taken = static_cast<std::size_t>(sent);
  return {taken < asked ? Step::Next::blocked : Step::Next::again, taken, {}};
}

// A short splice says nothing about the socket (it may end at a page's border): ask again.
SendQueue::Step SendQueue::send_pipe(int fd, PipeRange& range) {
  const ssize_t sent = ::splice(range.pipe->read_end.get(), nullptr, fd, nullptr, range.pipe->held,
                                SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
  if (sent < 0) return Step::after_error(errno);
  if (sent == 0) return {Step::Next::failed, 0, {Fault::internal, 0, "sending from an empty pipe"}};
  return {Step::Next::again, static_cast<std::size_t>(sent), {}};
}

namespace {

// Takes `count` bytes off the front of a piece that is longer.
struct Cut {
  std::uint64_t count;
  void operator()(Slice& slice) const { slice.drop_front(static_cast<std::size_t>(count)); }
  void operator()(FileRange& range) const {
    range.offset += count;
    range.length -= count;
  }
  void operator()(PipeRange& range) const { range.pipe->held -= static_cast<std::size_t>(count); }
};

}  // namespace

void SendQueue::drop(std::uint64_t count) {
  bytes_ -= count;
  while (count > 0) {
    core::Piece& front = pieces_[first_];
    const std::uint64_t part = std::min(count, core::length(front));
    std::visit(Cut{part}, front);
    count -= part;
    if (core::length(front) > 0) break;
    front = Slice();  // frees what it held; an emptied pipe goes back to its store
    ++first_;
  }
  if (first_ == pieces_.size()) clear();
}

}  // namespace portico::net
