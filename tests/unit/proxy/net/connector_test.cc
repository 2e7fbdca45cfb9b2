#include "proxy/net/connector.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <vector>

#include "proxy/net/socket.h"
#include "proxy/net/tcp.h"
#include "tests/support/run_loop.h"
#include "tests/support/sockets.h"

namespace portico::net {
namespace {

using core::Fault;
using core::Fd;
using tests::ScratchDirectory;
using namespace std::chrono_literals;

/// Connects, and runs the loop until there is a result.
struct Attempt {
  explicit Attempt(const Address& address, core::Duration limit = 10s)
      : owner(loop, [this] { look(); }), connector(owner, address, limit) {
    owner.wake();
  }
  void look() {
    auto result = connector.take();
    if (!result) error = result.error();
    if (result && *result) transport = std::move(*result);
    if (!result || transport) loop.stop();
  }
  Fault outcome() {
    REQUIRE(tests::run_loop(loop));
    return error.fault;
  }

  core::Loop loop;
  std::unique_ptr<Transport> transport;
  core::Error error;
  tests::Agent owner;
  Connector connector;
};

/// Fills a listener's backlog, so that further clients have to wait.
std::vector<Fd> crowd(const Address& address) {
  std::vector<Fd> clients;
  for (int i = 0; i < 2; ++i) {
    auto fd = make_stream_socket(address);
    sockaddr_storage to;
    const socklen_t length = address.fill(to);
    ::connect(fd->get(), reinterpret_cast<const sockaddr*>(&to), length);
    clients.push_back(std::move(*fd));
  }
  return clients;
}

}  // namespace

TEST_CASE("connector: connects over TCP, and the transport works") {
  const auto listener = listen_on(tests::loopback());
  Attempt attempt(local_address(listener->get()));
  CHECK(attempt.outcome() == Fault::none);
  REQUIRE(attempt.transport);
  char congestion[16] = {};
  socklen_t length = sizeof congestion;
  const int fd = static_cast<SocketTransport&>(*attempt.transport).descriptor();
  CHECK(::getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, congestion, &length) == 0);
  CHECK(std::string_view(congestion) == "reno");
  tests::wait_readable(listener->get());
  const Fd server = std::move(accept_from(listener->get()).fd);
  attempt.transport->send(core::Slice::literal("hello"));
  CHECK(attempt.transport->flush() == core::Flow::end);
  tests::wait_readable(server.get());
  char bytes[8];
  CHECK(::read(server.get(), bytes, sizeof bytes) == 5);
  const auto again = attempt.connector.take();
  REQUIRE(again);
  CHECK(*again == nullptr);
}

TEST_CASE("connector: a Unix listener connects at once") {
  const ScratchDirectory scratch;
  const Address address = Address::local(scratch.file("sock"));
  const auto listener = listen_on(address);
  core::Loop loop;
  tests::Agent owner(loop, [] {});
  Connector connector(owner, address, 1s);
  const auto result = connector.take();
  REQUIRE(result);
  CHECK(*result != nullptr);
}

TEST_CASE("connector: nobody there is a refusal") {
  const auto listener = listen_on(tests::loopback());
  const Address address = local_address(listener->get());
  const ScratchDirectory scratch;
  SECTION("a TCP port without a listener") {
    const_cast<Fd&>(*listener).reset();
    CHECK(Attempt(address).outcome() == Fault::connection_refused);
  }
  SECTION("a Unix path that is not there") {
    CHECK(Attempt(Address::local(scratch.file("none"))).outcome() == Fault::connection_refused);
  }
  SECTION("a Unix path that nobody listens at any more") {
    listen_on(Address::local(scratch.file("left")))->reset();
    CHECK(Attempt(Address::local(scratch.file("left"))).outcome() == Fault::connection_refused);
  }
}

TEST_CASE("connector: an address that cannot be reached fails, and keeps failing") {
  Attempt attempt(*Address::parse_ip("255.255.255.255", 80));
  CHECK(attempt.outcome() == Fault::connection_failed);
  CHECK(attempt.error.os != 0);
  CHECK_FALSE(attempt.connector.take());
}

TEST_CASE("connector: whoever does not accept in time is left") {
  const auto listener = listen_on(tests::loopback(), {.backlog = 0});
  const auto clients = crowd(local_address(listener->get()));
  Attempt attempt(local_address(listener->get()), 50ms);
  CHECK(attempt.outcome() == Fault::connect_timeout);
}

TEST_CASE("connector: a Unix listener with a full backlog is tried again until it has room") {
  const ScratchDirectory scratch;
  const Address address = Address::local(scratch.file("sock"));
  const auto listener = listen_on(address, {.backlog = 0});
  const auto clients = crowd(address);
  SECTION("there comes room") {
    Attempt attempt(address);
    tests::Agent acceptor(attempt.loop, [&] {
      while (accept_from(listener->get()).outcome == Accepted::Outcome::accepted) {
      }
    });
    core::Timer later(acceptor);
    later.set_after(20ms);
    CHECK(attempt.outcome() == Fault::none);
  }
  SECTION("there comes none") { CHECK(Attempt(address, 30ms).outcome() == Fault::connect_timeout); }
}

TEST_CASE("connector: destroying it gives the attempt up") {
  const auto listener = listen_on(tests::loopback(), {.backlog = 0});
  const auto clients = crowd(local_address(listener->get()));
  core::Loop loop;
  tests::Agent owner(loop, [] {});
  { const Connector connector(owner, local_address(listener->get()), 10ms); }
  tests::run_loop(loop, 30ms);
  CHECK(owner.runs == 0);
}

}  // namespace portico::net
