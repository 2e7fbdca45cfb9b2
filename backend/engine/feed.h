// Feed: the worker's end of the way by which a streamed request's body comes.
//
// Part of a wsgi.input (feed_input.cc), used under the GIL, which is given up while it waits. Takes
// one message at a time: straight to where it is wanted, and what does not fit there into a window.
// record/feed.h has the messages.
#pragma once

#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "backend/record/feed.h"

namespace portico::engine {

/// Plain memory: a zeroed one is closed.
struct Feed {
  enum class State : std::uint8_t {
    closed,
    open,      ///< there may be more
    complete,  ///< all of the body has been taken
    failed,    ///< it will not be complete: see failure
  };

  void open(int end);
  void close();
  /// Sends a thread that waits away; for close() once it has gone.
  void interrupt() { ::shutdown(descriptor, SHUT_RDWR); }

  /// Takes up to `count` bytes, out of the window or of the next message. 0: the body is complete.
  /// False with an exception: a ConnectionError, or what a signal handler raised.
  bool read(char* place, std::size_t count, std::size_t& got);
  /// Sees to it that something is at hand, unless the body is complete. False likewise.
  bool fill();
  std::string_view at_hand() const { return {window + window_at, window_size}; }
  void use(std::size_t count) {
    window_at += count;
    window_size -= count;
  }
  /// Frees the window too.
  void forget();

  State state;
  bool asked;  ///< the front knows that somebody reads
  record::FeedFailure failure;
  int descriptor;
  std::uint64_t taken;
  char* window;  ///< malloc; kept from request to request
  std::size_t window_at;
  std::size_t window_size;

 private:
  bool next_message(char* place, std::size_t count, std::size_t& got);
  bool receive(msghdr& message, std::size_t& size);
  bool heed(const record::FeedHeader& header, std::size_t bytes);
  void note(std::uint64_t waits) const;
  bool fail(record::FeedFailure why);
};

}  // namespace portico::engine
