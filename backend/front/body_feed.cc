#include "backend/front/body_feed.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <utility>

namespace portico::backend {
namespace {

using core::Error;
using core::Fault;
using http::Flow;
using record::FeedFailure;
using record::FeedHeader;
using record::FeedType;

// Then the other exchanges of the thread have their turn: 1 MiB at most.
constexpr int messages_a_turn = 16;
// Of one message; more than the chunks of a usual client.
constexpr std::size_t most_slices = 64;
// A worker says one thing a piece; one that says more is heard later.
constexpr int notes_a_turn = 64;

FeedFailure failure_of(const Error& error) {
  switch (error.fault) {
    case Fault::client_gone:
      return FeedFailure::client_gone;
    case Fault::body_too_large:
      return FeedFailure::too_large;
    case Fault::body_timeout:
      return FeedFailure::too_slow;
    case Fault::bad_chunk:
      return FeedFailure::malformed;
    default:
      return FeedFailure::refused;
  }
}

}  // namespace

BodyFeed::BodyFeed(core::Loop& loop, http::BodySource& source, Owner& owner)
    : Active(loop), source_(source), owner_(owner), watch_(loop, *this) {}

core::Result<core::Fd> BodyFeed::open() {
  close();
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    return Error{Fault::no_descriptors, errno, "opening the way of a request body"};
  fd_.reset(ends[0]);
  watch_.open(ends[0]);
  watch_.want(core::readable);
  state_ = State::quiet;
  spoken_ = starving_ = full_ = false;
  return core::Fd(ends[1]);
}

bool BodyFeed::awaits_client() const {
  return fd_ && state_ == State::flowing && starving_ && slices_.empty() && !ending_;
}

void BodyFeed::on_ready(int readiness) noexcept {
  if ((readiness & core::writable) != 0) full_ = false;
  if ((readiness & core::readable) != 0) spoken_ = true;
  wake();
}

void BodyFeed::advance() {
  if (!fd_) return;
  if (std::exchange(spoken_, false) && !hear()) return close();
  if (state_ == State::flowing && !full_) pump();
  if (fd_) watch_.want(full_ ? core::readable | core::writable : core::readable);
}

// False: the worker has closed its end, or says what cannot be; it is given nothing more. What the
// application then sees is a body that ends too early, which is an error.
bool BodyFeed::hear() {
  for (int i = 0; i < notes_a_turn; ++i) {
    record::FeedNote note{};
    const ssize_t got = ::recv(fd_.get(), &note, sizeof note, MSG_DONTWAIT | MSG_TRUNC);
    if (got < 0) return errno == EAGAIN || errno == EINTR;
    if (got != sizeof note || !heed(note)) return false;
  }
  return true;
}

bool BodyFeed::heed(const record::FeedNote& note) {
  if (note.taken > given_ || !owner_.may_feed()) return false;
  if (state_ == State::quiet) state_ = State::flowing;
  starving_ = note.waits != 0 && note.taken == given_;
  last_moved_ = loop().now();
  return true;
}

void BodyFeed::pump() {
  for (int i = 0; i < messages_a_turn; ++i) {
    const bool dry = !gather();
    if (error_.fault != Fault::none) return break_off();
    if (slices_.empty() && !ending_) return;
    if (!give() || dry) return;
  }
  wake();
}

// Small chunks go together, so that a client cannot make work by them. False: it has sent no more
// yet.
bool BodyFeed::gather() {
  while (!ending_ && slices_.size() < most_slices && gathered_ < record::max_feed_piece_bytes) {
    http::Pull pull = source_.pull(record::max_feed_piece_bytes - gathered_, *this);
    switch (pull.flow) {
      case Flow::wait:
        return false;
      case Flow::data:
        slices_.push_back(std::move(std::get<core::Slice>(pull.piece)));
        gathered_ += slices_.back().size();
        break;
      case Flow::end:
        ending_ = {FeedType::end, FeedFailure::none};
        break;
      case Flow::fail:
        error_ = pull.error;
        ending_ = {FeedType::fail, failure_of(pull.error)};
        break;
    }
  }
  return true;
}

// False: nothing more can be sent now, or at all.
bool BodyFeed::give() {
  const bool last = slices_.empty();
  if (!send(last ? *ending_ : FeedHeader{FeedType::piece, FeedFailure::none})) return false;
  if (last) state_ = State::over;
  if (std::exchange(starving_, false) || last) last_moved_ = loop().now();
  given_ += std::exchange(gathered_, 0);
  slices_.clear();
  return !last;
}

// What was not sent stays, for when there is room or for another worker.
bool BodyFeed::send(FeedHeader header) {
  std::array<iovec, 1 + most_slices> parts;
  parts[0] = {&header, sizeof header};
  for (std::size_t i = 0; i < slices_.size(); ++i)
    parts[1 + i] = {const_cast<char*>(slices_[i].data()), slices_[i].size()};
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = 1 + slices_.size();
  ssize_t sent = -1;
  do {
    sent = ::sendmsg(fd_.get(), &message, MSG_DONTWAIT | MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  full_ = sent < 0 && errno == EAGAIN;
  if (sent < 0 && !full_) close();
  return sent >= 0;
}

// A worker that has no room for the news finds the end of the file, which means the same.
void BodyFeed::break_off() {
  if (slices_.empty() || give()) give();
  close();
  owner_.feed_failed(error_);
}

void BodyFeed::close() {
  watch_.close();
  fd_.reset();
}

}  // namespace portico::backend
