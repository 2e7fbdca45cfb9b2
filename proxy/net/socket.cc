#include "proxy/net/socket.h"

#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>
#include <string_view>

namespace portico::net {
namespace {

using core::Error;
using core::Fault;
using core::Fd;
using core::Result;

enum class Stack : bool { ipv6_only, both };

bool out_of_resources(int os) {
  return os == EMFILE || os == ENFILE || os == ENOBUFS || os == ENOMEM;
}

Error failure(int os, std::string_view doing) {
  return {out_of_resources(os) ? Fault::no_descriptors : Fault::internal, os, doing};
}

int socket_family(const Address& address) {
  switch (address.family()) {
    case Address::Family::ipv4:
      return AF_INET;
    case Address::Family::ipv6:
      return AF_INET6;
    case Address::Family::local:
      return AF_UNIX;
    case Address::Family::none:
      break;
  }
  return AF_UNSPEC;
}

bool set_option(int fd, int level, int option, int value) {
  return ::setsockopt(fd, level, option, &value, sizeof value) == 0;
}

// What is set here every accepted socket inherits, which saves a call for each.
bool set_listener_options(int fd, const Address& address, Stack stack,
                          const ListenOptions& options) {
  if (address.family() == Address::Family::local) return true;
  if (address.is_loopback()) forgo_congestion_control(fd);
  const bool alone = stack == Stack::ipv6_only;
  return set_option(fd, SOL_SOCKET, SO_REUSEADDR, 1) &&
         set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1) &&
         (options.share_port == SharePort::no || set_option(fd, SOL_SOCKET, SO_REUSEPORT, 1)) &&
         (address.family() != Address::Family::ipv6 ||
          set_option(fd, IPPROTO_IPV6, IPV6_V6ONLY, alone ? 1 : 0));
}

// Whether somebody accepts there now: a full backlog (EAGAIN) is somebody too.
bool in_use(const Address& address) {
  const Fd probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  sockaddr_storage to;
  const socklen_t length = address.fill(to);
  return ::connect(probe.get(), reinterpret_cast<const sockaddr*>(&to), length) == 0 ||
         errno == EAGAIN;
}

void remove_stale(const Address& address) {
  struct stat status;
  if (::lstat(address.path().c_str(), &status) != 0 || !S_ISSOCK(status.st_mode)) return;
  if (!in_use(address)) ::unlink(address.path().c_str());
}

Result<void> bind_to(int fd, const Address& address, mode_t unix_mode) {
  const bool local = address.family() == Address::Family::local;
  if (local) remove_stale(address);
  sockaddr_storage to;
  const socklen_t length = address.fill(to);
  if (::bind(fd, reinterpret_cast<const sockaddr*>(&to), length) != 0)
    return failure(errno, "binding a listener");
  if (local && ::chmod(address.path().c_str(), unix_mode) != 0)
    return failure(errno, "setting the mode of a Unix socket");
  return {};
}

Result<Fd> listen_with(const Address& address, Stack stack, const ListenOptions& options) {
  Result<Fd> fd = make_stream_socket(address);
  if (!fd) return fd;
  if (!set_listener_options(fd->get(), address, stack, options))
    return failure(errno, "setting the options of a listener");
  if (const auto bound = bind_to(fd->get(), address, options.unix_mode); !bound)
    return bound.error();
  if (::listen(fd->get(), options.backlog) != 0) return failure(errno, "listening");
  return fd;
}

// accept(2): errors of the new connection's network come out of the listener, too.
Accepted::Outcome outcome_of(int os) {
  switch (os) {
    case EAGAIN:
      return Accepted::Outcome::wait;
    case EMFILE:
    case ENFILE:
    case ENOBUFS:
    case ENOMEM:
      return Accepted::Outcome::exhausted;
    case EBADF:
    case EINVAL:
    case ENOTSOCK:
    case EOPNOTSUPP:
    case EFAULT:
      return Accepted::Outcome::failed;
    default:
      return Accepted::Outcome::aborted;
  }
}

using NameCall = int (*)(int, sockaddr*, socklen_t*) noexcept;

Address ask_address(int fd, NameCall call) {
  sockaddr_storage name;
  socklen_t length = sizeof name;
  if (call(fd, reinterpret_cast<sockaddr*>(&name), &length) != 0) return {};
  return Address::from(reinterpret_cast<const sockaddr*>(&name), length);
}

}  // namespace

Result<Fd> make_stream_socket(const Address& address) {
  Fd fd(::socket(socket_family(address), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd) return failure(errno, "making a socket");
  return fd;
}

Result<Fd> listen_on(const Address& address, const ListenOptions& options) {
  return listen_with(address, Stack::ipv6_only, options);
}

Result<Fd> listen_on_port(std::uint16_t port, const ListenOptions& options) {
  constexpr std::array<std::uint8_t, 16> any{};
  Result<Fd> both =
      listen_with(Address::ip(Address::Family::ipv6, any.data(), port), Stack::both, options);
  if (both) return both;
  const int os = both.error().os;
  if (os != EAFNOSUPPORT && os != EADDRNOTAVAIL) return both;  // else: no IPv6 on this machine
  return listen_with(Address::ip(Address::Family::ipv4, any.data(), port), Stack::both, options);
}

Accepted accept_from(int listener) {
  Accepted result;
  sockaddr_storage peer;
  socklen_t length = sizeof peer;
  result.fd = Fd(::accept4(listener, reinterpret_cast<sockaddr*>(&peer), &length,
                           SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (!result.fd) {
    result.os = errno;
    result.outcome = outcome_of(result.os);
    return result;
  }
  result.outcome = Accepted::Outcome::accepted;
  result.peer = Address::from(reinterpret_cast<const sockaddr*>(&peer), length);
  return result;
}

Address local_address(int fd) { return ask_address(fd, &::getsockname); }

Address peer_address(int fd) { return ask_address(fd, &::getpeername); }

std::optional<uid_t> peer_user(int fd) {
  ucred credentials{};
  socklen_t length = sizeof credentials;
  if (::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &length) != 0) return std::nullopt;
  if (credentials.pid == 0) return std::nullopt;  // no Unix socket, or nobody we can see
  return credentials.uid;
}

void forgo_congestion_control(int fd) {
  constexpr std::string_view plainest = "reno";
  ::setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, plainest.data(), plainest.size());
}

std::uint64_t unacknowledged_bytes(int fd) {
  int bytes = 0;
  if (::ioctl(fd, SIOCOUTQ, &bytes) != 0 || bytes < 0) return 0;
  return static_cast<std::uint64_t>(bytes);
}

}  // namespace portico::net
