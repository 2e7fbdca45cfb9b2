#include "proxy/run/bound_listener.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "proxy/net/address.h"
#include "proxy/net/socket.h"

namespace portico::run {
namespace {

using core::Fd;
using core::Result;
using net::SharePort;

// Below this port a process needs privileges (ip(7): net.ipv4.ip_unprivileged_port_start).
constexpr unsigned first_free_port = 1024;

Result<Fd> listen_at(const conf::Address& address, SharePort share) {
  const net::ListenOptions options{.share_port = share};
  if (!address.is_unix() && address.host.empty()) return net::listen_on_port(address.port, options);
  const auto where = net::Address::parse(address.text());
  if (!where) return where.error();
  return net::listen_on(*where, options);
}

// The client speaks first, so a connection is worth accepting when its first bytes are here: no
// read in vain, no epoll_ctl for what is answered at once. One that stays silent is accepted after
// about a second (tcp(7)).
void accept_with_bytes(const Fd& listening) {
  constexpr int seconds = 1;
  ::setsockopt(listening.get(), IPPROTO_TCP, TCP_DEFER_ACCEPT, &seconds, sizeof seconds);
}

// The kernel lets processes of one user share a port when all of them ask to: try once without.
Result<void> claim(const conf::Address& address) {
  if (address.port == 0) return {};
  const auto alone = listen_at(address, SharePort::no);
  if (!alone) return alone.error();
  return {};
}

Result<std::vector<Fd>> bind_tcp(conf::Address address, unsigned threads) {
  if (const auto claimed = claim(address); !claimed) return claimed.error();
  std::vector<Fd> sockets;
  while (sockets.size() < threads) {
    auto socket = listen_at(address, SharePort::yes);
    if (!socket) return socket.error();
    address.port = net::local_address(socket->get()).port();
    accept_with_bytes(*socket);
    sockets.push_back(std::move(*socket));
  }
  return sockets;
}

void describe_tcp(const conf::Address& address, BoundListener& bound) {
  const std::string port =
      ":" + std::to_string(net::local_address(bound.sockets.front().get()).port());
  if (address.host.empty() || address.host == "0.0.0.0" || address.host == "::") {
    bound.url = "http://localhost" + port;
    bound.reach = address.host.empty() ? "every address of this machine"
                                       : "every address like " + address.host;
    return;
  }
  const bool is_v6 = address.host.find(':') != std::string::npos;
  bound.url = "http://" + (is_v6 ? "[" + address.host + "]" : address.host) + port;
}

std::string_view remedy_tcp(int os, std::uint16_t port) {
  switch (os) {
    case EADDRINUSE:
      return "another process listens there (see: ss -ltnp), so stop it or write another address";
    case EACCES:
      return port < first_free_port
                 ? "ports below 1024 need root or the capability CAP_NET_BIND_SERVICE"
                 : "";
    case EADDRNOTAVAIL:
      return "no interface of this machine has that address";
    default:
      return "";
  }
}

std::string_view remedy_unix(int os) {
  switch (os) {
    case EADDRINUSE:
      return "another process listens there (see: ss -lxp), or it is no socket, so write another "
             "path";
    case EACCES:
      return "mend the rights of its directory or write another path";
    case ENOENT:
      return "make its directory or write another path";
    default:
      return "";
  }
}

}  // namespace

Result<BoundListener> bind_listener(const conf::Listener& listener, unsigned threads) {
  const conf::Address& address = listener.address;
  BoundListener bound;
  bound.name = address.text();
  if (address.is_unix()) {
    auto socket = listen_at(address, SharePort::no);
    if (!socket) return socket.error();
    bound.sockets.push_back(std::move(*socket));
    bound.url = bound.name;
    bound.unix_path = address.path;
    return bound;
  }
  auto sockets = bind_tcp(address, threads);
  if (!sockets) return sockets.error();
  bound.sockets = std::move(*sockets);
  describe_tcp(address, bound);
  return bound;
}

std::string why_not_bound(const conf::Listener& listener, const core::Error& error) {
  const conf::Address& address = listener.address;
  const std::string text = "cannot listen on " + address.text() + ": " + std::strerror(error.os);
  const std::string_view remedy =
      address.is_unix() ? remedy_unix(error.os) : remedy_tcp(error.os, address.port);
  return remedy.empty() ? text : text + "; " + std::string(remedy);
}

}  // namespace portico::run
