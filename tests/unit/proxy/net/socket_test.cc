#include "proxy/net/socket.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <fstream>
#include <vector>

#include "tests/support/sockets.h"

namespace portico::net {
namespace {

using core::Fd;
using Outcome = Accepted::Outcome;
using tests::connect_to;
using tests::ScratchDirectory;

Fd listening(const Address& address, const ListenOptions& options = {}) {
  auto fd = listen_on(address, options);
  REQUIRE(fd);
  return std::move(*fd);
}

bool machine_has_ipv6() {
  const Fd fd(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_storage to;
  const socklen_t length = Address::parse_ip("::1", 0)->fill(to);
  return ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&to), length) == 0;
}

int option(int fd, int level, int name) {
  int value = 0;
  socklen_t length = sizeof value;
  ::getsockopt(fd, level, name, &value, &length);
  return value;
}

std::string congestion_control(int fd) {
  std::string name(16, '\0');
  auto length = static_cast<socklen_t>(name.size());
  REQUIRE(::getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name.data(), &length) == 0);
  return name.c_str();
}

}  // namespace

TEST_CASE("socket: a listener accepts, and tells who came and where") {
  const Fd listener = listening(tests::loopback());
  const Address where = local_address(listener.get());
  CHECK(where.port() != 0);
  CHECK(accept_from(listener.get()).outcome == Outcome::wait);
  const Fd client = connect_to(where);
  const Accepted accepted = accept_from(listener.get());
  REQUIRE(accepted.outcome == Outcome::accepted);
  CHECK(accepted.peer == local_address(client.get()));
  CHECK(local_address(accepted.fd.get()) == where);
  CHECK(peer_address(client.get()) == where);
}

TEST_CASE("socket: accepted sockets neither block nor cross an exec, and have TCP_NODELAY") {
  const Fd listener = listening(tests::loopback());
  const Fd client = connect_to(local_address(listener.get()));
  const Fd accepted = accept_from(listener.get()).fd;
  CHECK((::fcntl(accepted.get(), F_GETFL) & O_NONBLOCK) != 0);
  CHECK((::fcntl(accepted.get(), F_GETFD) & FD_CLOEXEC) != 0);
  CHECK(option(accepted.get(), IPPROTO_TCP, TCP_NODELAY) != 0);
}

TEST_CASE("socket: on this machine congestion control is the plainest, from both sides") {
  const Fd listener = listening(tests::loopback());
  const Fd client = connect_to(local_address(listener.get()));
  const Fd accepted = accept_from(listener.get()).fd;
  CHECK(congestion_control(accepted.get()) == "reno");
  forgo_congestion_control(client.get());
  CHECK(congestion_control(client.get()) == "reno");
}

TEST_CASE("socket: a port alone takes IPv4 and IPv6 clients") {
  auto listener = listen_on_port(0);
  REQUIRE(listener);
  const std::uint16_t port = local_address(listener->get()).port();
  const Fd client4 = connect_to(tests::loopback(port));
  REQUIRE(client4);
  CHECK(accept_from(listener->get()).peer.family() == Address::Family::ipv4);
  if (!machine_has_ipv6()) return;
  const Fd client6 = connect_to(*Address::parse_ip("::1", port));
  REQUIRE(client6);
  CHECK(accept_from(listener->get()).peer.family() == Address::Family::ipv6);
}

TEST_CASE("socket: an IPv6 address alone takes no IPv4 clients") {
  if (!machine_has_ipv6()) return;
  const Fd listener = listening(*Address::parse_ip("::", 0));
  CHECK_FALSE(connect_to(tests::loopback(local_address(listener.get()).port())));
}

TEST_CASE("socket: a port in use is refused, unless both share it") {
  const Fd first = listening(tests::loopback(), {.share_port = SharePort::yes});
  const Address taken = local_address(first.get());
  const auto second = listen_on(taken);
  REQUIRE_FALSE(second);
  CHECK(second.error().os == EADDRINUSE);
  CHECK(listen_on(taken, {.share_port = SharePort::yes}));
}

TEST_CASE("socket: an address of another machine is refused") {
  const auto listener = listen_on(*Address::parse_ip("192.0.2.1", 0));
  REQUIRE_FALSE(listener);
  CHECK(listener.error().os == EADDRNOTAVAIL);
}

TEST_CASE("socket: a Unix listener has its mode, and replaces a stale path") {
  const ScratchDirectory scratch;
  const Address address = Address::local(scratch.file("sock"));
  listening(address).reset();  // its path stays behind
  const Fd listener = listening(address, {.unix_mode = 0660});
  struct stat status {};
  REQUIRE(::stat(address.path().c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0660);
  const Fd client = connect_to(address);
  REQUIRE(client);
  const Accepted accepted = accept_from(listener.get());
  CHECK(accepted.peer.family() == Address::Family::local);
  CHECK(accepted.peer.path().empty());
}

TEST_CASE("socket: a Unix path in use is left alone") {
  const ScratchDirectory scratch;
  const Address address = Address::local(scratch.file("sock"));
  const Fd listener = listening(address);
  const auto second = listen_on(address);
  REQUIRE_FALSE(second);
  CHECK(second.error().os == EADDRINUSE);
  CHECK(connect_to(address));
}

TEST_CASE("socket: a file that is no socket is left alone") {
  const ScratchDirectory scratch;
  std::ofstream(scratch.file("precious")) << "data";
  CHECK_FALSE(listen_on(Address::local(scratch.file("precious"))));
  struct stat status {};
  CHECK(::stat(scratch.file("precious").c_str(), &status) == 0);
}

TEST_CASE("socket: without descriptors accepting says so, and the client can be taken later") {
  const Fd listener = listening(tests::loopback());
  const Fd client = connect_to(local_address(listener.get()));
  const Fd next_free(::fcntl(listener.get(), F_DUPFD_CLOEXEC, 0));
  rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  const rlimit none{static_cast<rlim_t>(next_free.get()), before.rlim_max};
  ::setrlimit(RLIMIT_NOFILE, &none);
  const Outcome outcome = accept_from(listener.get()).outcome;
  ::setrlimit(RLIMIT_NOFILE, &before);
  CHECK(outcome == Outcome::exhausted);
  CHECK(accept_from(listener.get()).outcome == Outcome::accepted);
}

TEST_CASE("socket: a broken listener is told from a client that left") {
  CHECK(accept_from(-1).outcome == Outcome::failed);
  const Fd plain(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  CHECK(accept_from(plain.get()).outcome == Outcome::failed);
}

TEST_CASE("socket: what the peer has not read is counted") {
  const auto [client, server] = tests::unix_pair();
  CHECK(unacknowledged_bytes(client.get()) == 0);
  REQUIRE(::write(client.get(), "hello", 5) == 5);
  CHECK(unacknowledged_bytes(client.get()) > 0);
}

}  // namespace portico::net
