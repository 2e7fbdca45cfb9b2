#include "backend/front/body_feed.h"

#include <sys/socket.h>

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
constexpr int pieces_a_turn = 16;
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
  return fd_ && state_ == State::flowing && starving_ && !message_;
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
  for (int i = 0; i < pieces_a_turn; ++i) {
    if (!message_ && !fetch()) return;
    if (!give()) return;
  }
  wake();
}

// False: the client has sent no more yet.
bool BodyFeed::fetch() {
  http::Pull pull = source_.pull(record::max_feed_piece_bytes, *this);
  switch (pull.flow) {
    case Flow::wait:
      return false;
    case Flow::data:
      message_ = {FeedType::piece, FeedFailure::none};
      piece_ = std::move(std::get<core::Slice>(pull.piece));
      return true;
    case Flow::end:
      message_ = {FeedType::end, FeedFailure::none};
      return true;
    case Flow::fail:
      break;
  }
  message_ = {FeedType::fail, failure_of(pull.error)};
  give();
  close();
  owner_.feed_failed(pull.error);
  return false;
}

// False: nothing more can be sent now, or at all.
bool BodyFeed::give() {
  iovec parts[2] = {{&*message_, sizeof(FeedHeader)},
                    {const_cast<char*>(piece_.data()), piece_.size()}};
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = 2;
  const ssize_t sent = ::sendmsg(fd_.get(), &message, MSG_DONTWAIT | MSG_NOSIGNAL);
  if (sent < 0 && errno == EINTR) return true;
  full_ = sent < 0 && errno == EAGAIN;
  if (full_) return false;
  if (sent < 0) {  // what was not sent stays for another worker
    close();
    return false;
  }
  if (message_->type != FeedType::piece) state_ = State::over;
  if (std::exchange(starving_, false) || state_ == State::over) last_moved_ = loop().now();
  given_ += piece_.size();
  message_.reset();
  piece_ = {};
  return state_ != State::over;
}

void BodyFeed::close() {
  watch_.close();
  fd_.reset();
}

}  // namespace portico::backend
