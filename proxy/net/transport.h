// Transport: a connected byte stream, plain or TLS, socket or memory. It is polled, and wakes its
// owner.
//
// Owned by one session, client connection or tunnel; one thread. Reads hand out Slices, writes keep
// their pieces until they are sent, so that a transport over io_uring can stand beside this one.
#pragma once

#include <cstddef>
#include <cstdint>

#include "proxy/core/loop.h"
#include "proxy/core/piece.h"
#include "proxy/core/result.h"

namespace portico::net {

struct Arrival {
  core::Flow flow = core::Flow::wait;
  core::Piece piece;  ///< with Flow::data: a Slice, or a PipeRange where that was allowed
  core::Error error;  ///< with Flow::fail
};

enum class Splice : bool { refused, allowed };

/// Faults are named as if the peer were an endpoint (endpoint_reset, ...); a session says
/// client_gone instead. The owner reads until it is told to wait, or has no room: it may not be
/// woken before.
class Transport {
 public:
  virtual ~Transport() = default;  ///< closes at once; what is unsent is lost

  /// Who is woken when bytes, the peer's end, an error or room to send arrive. Null: nobody.
  virtual void attach(core::Active* owner) = 0;

  /// What has arrived, at most `room` bytes, or wait; end when the peer has sent its last byte.
  /// After a short read the next call may say wait without asking the kernel. A pipe is handed out
  /// where much arrives and room is at least 128 KiB: offer less for a reader that is slow.
  virtual Arrival read(std::size_t room, Splice splice = Splice::refused) = 0;

  /// Queues a piece behind those not yet sent. Nothing goes out before flush().
  virtual void send(core::Piece&& piece) = 0;
  /// Sends what it can: end = all is sent, wait = the owner is woken when the rest has gone or the
  /// queue has become short (see low_water), fail = the connection is broken.
  virtual core::Flow flush() = 0;
  /// Promises to close, or finish_sending(), as soon as flush() has sent all: the end may then
  /// travel with the last bytes.
  virtual void close_follows() {}
  /// More is expected from the peer: a new one is watched from now on, not a moment later.
  virtual void expect_more() {}
  virtual std::uint64_t unsent() const = 0;  ///< bytes queued and not yet taken by the kernel
  virtual std::uint64_t sent() const = 0;    ///< bytes taken by the kernel so far
  /// Bytes that the peer's kernel has acknowledged so far: what a slow reader is measured by. Costs
  /// a system call.
  virtual std::uint64_t acknowledged() const { return sent(); }
  virtual const core::Error& send_error() const = 0;  ///< after flush() failed

  /// Tells the peer that no more will come, after what is queued (FIN, close_notify).
  virtual void finish_sending() = 0;
  /// Makes the closing a reset (SO_LINGER 0): the peer must not take what it got for complete.
  virtual void reset_on_close() = 0;
  /// Whether the peer is known to be gone altogether (reset, error), not only its sending side.
  virtual bool broken() const = 0;

  /// Below this many unsent bytes whoever fills the transport should pull again.
  static constexpr std::uint64_t low_water = 64 * 1024;
};

}  // namespace portico::net
