// Connector: one attempt to connect to an address, without waiting, with a deadline.
//
// Owned by who wants the connection; destroying it gives the attempt up. One thread.
#pragma once

#include <memory>

#include "proxy/core/fd.h"
#include "proxy/core/loop.h"
#include "proxy/core/result.h"
#include "proxy/core/timer.h"
#include "proxy/core/watch.h"
#include "proxy/net/address.h"
#include "proxy/net/transport.h"

namespace portico::net {

class Connector final : private core::ReadyListener {
 public:
  /// Starts at once. `owner` is woken when take() may have something to say; it may have at once
  /// (Unix sockets, a refusal on loopback), and nobody is woken then.
  Connector(core::Active& owner, const Address& address, core::Duration limit);

  /// The connection, once; null: still connecting. After an error the same error is given again.
  /// Errors  connection_refused (also a Unix path where nobody is), connect_timeout,
  ///         no_descriptors, connection_failed
  core::Result<std::unique_ptr<Transport>> take();

 private:
  enum class State : std::uint8_t {
    connecting,   // the kernel is at it; it tells by writable
    backing_off,  // a Unix socket's backlog is full: tried again when retry_ is due
    connected,
    failed,
  };

  void on_ready(int readiness) noexcept override;
  void open();
  void attempt();
  void note(int os);
  void fail(core::Fault fault, int os);
  bool met_itself() const;

  core::Active& owner_;
  Address address_;
  core::Fd fd_;
  core::Watch watch_;
  core::Timer deadline_;
  core::Timer retry_;
  State state_ = State::connecting;
  core::Error error_;
};

}  // namespace portico::net
