// Sockets: making, binding, accepting and asking them. Free functions over descriptors; any thread.
//
// Every socket made here is non-blocking and close-on-exec. Listeners are owned by the supervisor
// (or by a test) and passed on as descriptors; accepted sockets go to a SocketTransport.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>

#include "proxy/core/fd.h"
#include "proxy/core/result.h"
#include "proxy/net/address.h"

namespace portico::net {

enum class SharePort : bool { no, yes };  ///< SO_REUSEPORT: several listeners on one port

struct ListenOptions {
  SharePort share_port = SharePort::no;
  int backlog = 4096;       ///< the kernel's net.core.somaxconn bounds it
  mode_t unix_mode = 0666;  ///< of a Unix socket's path; who may connect
};

/// A listening socket at `address`; port 0 lets the kernel choose. An IPv6 socket takes IPv6 only.
/// A Unix socket's path that nobody listens at any more is replaced; one that is in use, or that is
/// no socket, is left alone.
/// Errors  Fault::internal with errno (EADDRINUSE, EACCES, ...); no_descriptors
core::Result<core::Fd> listen_on(const Address& address, const ListenOptions& options = {});

/// ":port": one socket for IPv6 and IPv4 (whose peers appear as IPv4); IPv4 alone where the kernel
/// has no IPv6.
core::Result<core::Fd> listen_on_port(std::uint16_t port, const ListenOptions& options = {});

/// What accepting came to.
struct Accepted {
  enum class Outcome : std::uint8_t {
    accepted,   ///< fd and peer are set
    wait,       ///< nobody is there
    aborted,    ///< that client has left already, or the network dropped it: accept again
    exhausted,  ///< no descriptors or memory: pause, and accept when something was closed
    failed,     ///< the listener itself is broken
  };
  Outcome outcome = Outcome::wait;
  core::Fd fd;
  Address peer;
  int os = 0;  ///< errno, unless accepted
};

/// Takes one client off `listener`, without waiting. Options such as TCP_NODELAY are inherited.
Accepted accept_from(int listener);

/// A non-blocking stream socket of the address's family, not yet bound nor connected.
core::Result<core::Fd> make_stream_socket(const Address& address);

Address local_address(int fd);  ///< Family::none when the kernel does not say
Address peer_address(int fd);

/// Whose process connected to a Unix socket (SO_PEERCRED; as it was then); nothing for others.
std::optional<uid_t> peer_user(int fd);

/// For a TCP socket, or a listener, whose peers are on this machine: the plainest algorithm that
/// every kernel has. There is nothing to control, and a default such as BBR paces each send with a
/// timer (0.2 µs of a relayed request's 23 were measured).
void forgo_congestion_control(int fd);

/// Bytes that the kernel took but the peer's kernel has not acknowledged (SIOCOUTQ).
std::uint64_t unacknowledged_bytes(int fd);

}  // namespace portico::net
