#include "backend/engine/feed.h"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "backend/engine/python.h"

namespace portico::engine {
namespace {

using record::FeedFailure;
using record::FeedHeader;
using record::FeedType;

const char* text_of(FeedFailure failure) {
  switch (failure) {
    case FeedFailure::too_large:
      return "the request body is larger than limits.body";
    case FeedFailure::too_slow:
      return "the request body came too slowly (timeouts.body)";
    case FeedFailure::malformed:
      return "the request body has malformed chunks";
    case FeedFailure::refused:
      return "the request body could not be handed on";
    case FeedFailure::none:
    case FeedFailure::client_gone:
      break;
  }
  return "the client left before its request body was complete";
}

/// recvmsg while other Python threads run; errno as it left it.
ssize_t wait_for(int descriptor, msghdr& message) {
  ssize_t size = 0;
  int error = 0;
  Py_BEGIN_ALLOW_THREADS;
  size = ::recvmsg(descriptor, &message, 0);
  error = errno;
  Py_END_ALLOW_THREADS;
  errno = error;
  return size;
}

}  // namespace

void Feed::open(int end) {
  state = State::open;
  asked = false;
  failure = FeedFailure::none;
  descriptor = end;
  taken = 0;
  window_at = window_size = 0;
}

void Feed::close() {
  if (state != State::closed) ::close(descriptor);
  state = State::closed;
  window_at = window_size = 0;
}

void Feed::forget() {
  close();
  std::free(window);
  window = nullptr;
}

bool Feed::read(char* place, std::size_t count, std::size_t& got) {
  if (window_size == 0) return next_message(place, count, got);
  got = std::min(count, window_size);
  std::memcpy(place, window + window_at, got);
  use(got);
  return true;
}

bool Feed::fill() {
  std::size_t none = 0;
  return window_size != 0 || next_message(nullptr, 0, none);
}

/// The next message's bytes: `count` at most to `place`, the rest into the window, which is empty.
bool Feed::next_message(char* place, std::size_t count, std::size_t& got) {
  got = 0;
  if (state == State::failed) return fail(failure);
  if (state != State::open) return true;
  if (window == nullptr) window = static_cast<char*>(std::malloc(record::max_feed_piece_bytes));
  if (window == nullptr) return PyErr_NoMemory() != nullptr;
  FeedHeader header{};
  iovec parts[3] = {
      {&header, sizeof header}, {place, count}, {window, record::max_feed_piece_bytes}};
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = 3;
  std::size_t size = 0;
  if (!receive(message, size)) return false;
  if (size < sizeof header || (message.msg_flags & MSG_TRUNC) != 0)
    return fail(FeedFailure::client_gone);
  const std::size_t bytes = size - sizeof header;
  got = std::min(count, bytes);
  window_at = 0;
  window_size = bytes - got;
  return heed(header, bytes);
}

/// Waits only for what is not there yet; either way the front hears that the application is back
/// for more. ECONNRESET is told once, before what still lies there: the front has left a note of
/// ours unread.
bool Feed::receive(msghdr& message, std::size_t& size) {
  for (;;) {
    ssize_t got = -1;
    errno = EAGAIN;
    if (asked) got = ::recvmsg(descriptor, &message, MSG_DONTWAIT);
    if (got >= 0) {
      note(0);
    } else if (errno == EAGAIN) {
      note(1);
      asked = true;
      got = wait_for(descriptor, message);
    }
    size = got < 0 ? 0 : static_cast<std::size_t>(got);
    if (got >= 0) return true;
    if (errno == EINTR && PyErr_CheckSignals() < 0) return false;
    if (errno != EINTR && errno != ECONNRESET) {
      fail(FeedFailure::refused);
      return false;
    }
  }
}

bool Feed::heed(const FeedHeader& header, std::size_t bytes) {
  switch (header.type) {
    case FeedType::piece:
      taken += bytes;
      return true;
    case FeedType::end:
      state = State::complete;
      return true;
    case FeedType::fail:
      break;
  }
  return fail(header.failure);
}

/// Tells the front. Where it cannot be told, it has not read the notes before, or has gone.
void Feed::note(std::uint64_t waits) const {
  const record::FeedNote words{taken, waits};
  ssize_t ignored = ::send(descriptor, &words, sizeof words, MSG_DONTWAIT | MSG_NOSIGNAL);
  static_cast<void>(ignored);
}

/// Always false, for its callers' return.
bool Feed::fail(FeedFailure why) {
  state = State::failed;
  failure = why;
  bool left = why == FeedFailure::client_gone || why == FeedFailure::none;
  raise(left ? PyExc_ConnectionResetError : PyExc_ConnectionAbortedError, text_of(why));
  return false;
}

}  // namespace portico::engine
