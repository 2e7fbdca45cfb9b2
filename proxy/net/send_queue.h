// SendQueue: pieces that wait to be sent, and the system calls that send them: one call for
// consecutive slices, sendfile for a file range, splice for a pipe.
//
// Owned by a SocketTransport; one thread. Owns no memory while it is empty: its thread keeps some
// for the next that is filled. The process ignores SIGPIPE: sendfile and splice know no
// MSG_NOSIGNAL.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "proxy/core/piece.h"
#include "proxy/core/result.h"

namespace portico::net {

class SendQueue {
 public:
  void push(core::Piece&& piece);  ///< empty pieces are dropped
  bool empty() const { return pieces_.empty(); }
  std::uint64_t bytes() const { return bytes_; }

  /// Sends to the socket `fd` until nothing is left (end), the kernel takes no more (wait), about
  /// `budget` bytes have gone (data), or an error.
  struct Outcome {
    core::Flow flow;
    std::uint64_t sent;
    core::Error error;
  };
  /// hold  the last bytes for the end that follows at once (MSG_MORE): one segment in place of two
  Outcome send_to(int fd, std::uint64_t budget, bool hold = false);
  void clear();

 private:
  struct Step;
  Step send_front(int fd, std::uint64_t budget, bool hold);
  Step send_slices(int fd, bool hold);
  static Step send_file(int fd, core::FileRange& range, std::uint64_t budget);
  static Step send_pipe(int fd, core::PipeRange& range);
  void drop(std::uint64_t count);
  void compact();

  std::vector<core::Piece> pieces_;
  std::size_t first_ = 0;  // pieces before it have gone
  std::uint64_t bytes_ = 0;
};

}  // namespace portico::net
