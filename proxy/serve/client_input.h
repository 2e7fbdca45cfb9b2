// ClientInput: the bytes of a client that have arrived and are not yet used.
//
// A member of a session; one thread. It keeps at most what one read brought: a client that sends
// ahead (pipelining) is read on only when that is used up. Reads are small but for bodies, so that
// what is kept for a client stays small.
#pragma once

#include <utility>
#include <variant>

#include "proxy/core/bytes.h"
#include "proxy/net/transport.h"

namespace portico::serve {

class ClientInput {
 public:
  explicit ClientInput(net::Transport& transport) : transport_(transport) {}

  /// Reads once, at most `room` bytes, when nothing is kept. data: bytes() has some; end: the
  /// client has sent its last byte; fail: the connection is broken, see error().
  core::Flow fill(std::size_t room = core::block_bytes);
  /// What has arrived; whoever uses bytes takes them off the front.
  core::Slice& bytes() { return kept_; }
  bool empty() const { return kept_.empty(); }
  void discard() { kept_ = {}; }
  /// Gives back the block of a slice that has been used up.
  void trim() {
    if (kept_.empty()) kept_ = {};
  }

  bool ended() const { return ended_; }  ///< by its end or by a failure
  bool failed() const { return error_.fault != core::Fault::none; }
  const core::Error& error() const { return error_; }

 private:
  net::Transport& transport_;
  core::Slice kept_;
  bool ended_ = false;
  core::Error error_;
};

}  // namespace portico::serve
