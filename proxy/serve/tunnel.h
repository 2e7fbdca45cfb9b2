// Tunnel: bytes both ways between two transports, as they are, after a 101.
//
// A member of the session that owns the client's transport; it owns the peer's. One thread.
// Back-pressure: a side is read only while the other has room. A half-close is passed on; the
// tunnel ends when both sides have ended, or when either is broken.
#pragma once

#include <cstdint>
#include <memory>

#include "proxy/core/bytes.h"
#include "proxy/core/loop.h"
#include "proxy/net/transport.h"

namespace portico::serve {

class Tunnel {
 public:
  enum class State : std::uint8_t {
    open,    ///< waits for either side
    busy,    ///< there is more to move at once
    closed,  ///< both sides have ended and everything has been passed on
    broken,  ///< either side failed
  };

  /// owner  is woken by both transports from now on
  /// early  what the client sent before the 101: passed on first
  Tunnel(core::Active& owner, net::Transport& client, std::unique_ptr<net::Transport> peer,
         core::Slice early);

  State move();  ///< moves what can be moved without waiting, a bounded amount

  std::uint64_t to_client() const { return to_client_.bytes; }
  std::uint64_t to_peer() const { return to_peer_.bytes; }

 private:
  /// One direction.
  struct Lane {
    net::Transport& from;
    net::Transport& to;
    std::uint64_t bytes = 0;
    bool ended = false;

    State move();
    State fill();
  };

  std::unique_ptr<net::Transport> peer_;
  Lane to_peer_;
  Lane to_client_;
};

}  // namespace portico::serve
