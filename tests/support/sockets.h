// Connected sockets for tests: loopback TCP on a port that the kernel chose, or a Unix pair.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <utility>

#include "proxy/core/fd.h"
#include "proxy/net/address.h"
#include "proxy/net/socket.h"

namespace portico::tests {

using FdPair = std::pair<core::Fd, core::Fd>;

inline net::Address loopback(std::uint16_t port = 0) {
  return *net::Address::parse_ip("127.0.0.1", port);
}

/// A blocking connect, which a listener on this machine answers at once.
inline core::Fd connect_to(const net::Address& address) {
  core::Fd fd(::socket(address.family() == net::Address::Family::ipv4   ? AF_INET
                       : address.family() == net::Address::Family::ipv6 ? AF_INET6
                                                                        : AF_UNIX,
                       SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_storage to;
  const socklen_t length = address.fill(to);
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&to), length) != 0) return {};
  ::fcntl(fd.get(), F_SETFL, O_NONBLOCK);
  return fd;
}

/// Waits until `fd` is readable (bytes, or the peer's end, on their way over loopback).
inline void wait_readable(int fd) {
  pollfd one{fd, POLLIN, 0};
  if (::poll(&one, 1, 10000) != 1) throw std::runtime_error("nothing came");
}

/// buffer_bytes  SO_SNDBUF of both ends; 0: the kernel's default
inline FdPair tcp_pair(int buffer_bytes = 0) {
  const core::Fd listener = std::move(*net::listen_on(loopback()));
  core::Fd client = connect_to(net::local_address(listener.get()));
  core::Fd server = std::move(net::accept_from(listener.get()).fd);
  if (!client || !server) throw std::runtime_error("no loopback");
  for (const int fd : {client.get(), server.get()}) {
    if (buffer_bytes > 0)
      ::setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &buffer_bytes, sizeof buffer_bytes);
  }
  return {std::move(client), std::move(server)};
}

inline FdPair unix_pair(int buffer_bytes = 0) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) != 0)
    throw std::runtime_error("no Unix sockets");
  for (const int fd : ends) {
    if (buffer_bytes > 0)
      ::setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &buffer_bytes, sizeof buffer_bytes);
  }
  return {core::Fd(ends[0]), core::Fd(ends[1])};
}

/// A directory that is removed with what lies in it.
class ScratchDirectory {
 public:
  ScratchDirectory() {
    std::string pattern = "/tmp/portico-test-XXXXXX";
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no scratch directory");
    path_ = pattern;
  }
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;
  ~ScratchDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace portico::tests
