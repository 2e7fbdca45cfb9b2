// Dialer: opens connections to addresses; what stands between the relay and net/connector, so that
// tests need no sockets.
//
// One for the whole front, without state of its own: any thread may dial, on its own loop.
#pragma once

#include <memory>

#include "proxy/core/loop.h"
#include "proxy/core/result.h"
#include "proxy/net/address.h"
#include "proxy/net/transport.h"

namespace portico::client {

/// One attempt to connect; destroying it gives it up.
class Dial {
 public:
  virtual ~Dial() = default;
  /// The connection, once; null: not yet, and the owner is woken when there is something to say.
  /// Errors  connection_refused, connection_failed, connect_timeout, no_descriptors
  virtual core::Result<std::unique_ptr<net::Transport>> take() = 0;
};

class Dialer {
 public:
  virtual ~Dialer() = default;
  /// Starts at once; gives up after `limit`.
  virtual std::unique_ptr<Dial> dial(core::Active& owner, const net::Address& address,
                                     core::Duration limit) = 0;
};

/// Dials by net::Connector.
class NetDialer final : public Dialer {
 public:
  std::unique_ptr<Dial> dial(core::Active& owner, const net::Address& address,
                             core::Duration limit) override;
};

}  // namespace portico::client
