#include "proxy/run/bound_listener.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <set>

#include "proxy/net/socket.h"

using namespace portico;
using run::bind_listener;

namespace {

conf::Listener at(std::string host, std::uint16_t port) {
  return {{std::move(host), port, ""}, {}};
}

std::uint16_t port_of(const core::Fd& socket) { return net::local_address(socket.get()).port(); }

}  // namespace

TEST_CASE("bound listener: one socket a front thread, all on the port that the kernel chose") {
  const auto bound = bind_listener(at("127.0.0.1", 0), 3);
  REQUIRE(bound);
  REQUIRE(bound->sockets.size() == 3);
  std::set<std::uint16_t> ports;
  for (const core::Fd& socket : bound->sockets) ports.insert(port_of(socket));
  CHECK(ports.size() == 1);
  CHECK(bound->name == "127.0.0.1:0");
  CHECK(bound->url == "http://127.0.0.1:" + std::to_string(*ports.begin()));
  CHECK(bound->reach.empty());
}

TEST_CASE("bound listener: a client is accepted with its first bytes") {
  const auto bound = bind_listener(at("127.0.0.1", 0), 2);
  REQUIRE(bound);
  for (const core::Fd& socket : bound->sockets) {
    int seconds = 0;
    socklen_t size = sizeof seconds;
    REQUIRE(::getsockopt(socket.get(), IPPROTO_TCP, TCP_DEFER_ACCEPT, &seconds, &size) == 0);
    CHECK(seconds > 0);
  }
}

TEST_CASE("bound listener: a port that another Portico shares among its threads is in use") {
  const auto first = bind_listener(at("127.0.0.1", 0), 2);
  REQUIRE(first);
  const auto second = bind_listener(at("127.0.0.1", port_of(first->sockets[0])), 2);
  REQUIRE_FALSE(second);
  CHECK(second.error().os == EADDRINUSE);
  const auto why = run::why_not_bound(at("127.0.0.1", 80), second.error());
  CHECK(why.starts_with("cannot listen on 127.0.0.1:80: Address already in use; another process"));
}

TEST_CASE("bound listener: a Unix socket that cannot be made names the remedy") {
  const conf::Listener listener{{"", 0, "/nonexistent/portico.sock"}, {}};
  const auto bound = bind_listener(listener, 1);
  REQUIRE_FALSE(bound);
  CHECK(run::why_not_bound(listener, bound.error()) ==
        "cannot listen on unix:/nonexistent/portico.sock: No such file or directory; make its "
        "directory or write another path");
}

TEST_CASE("bound listener: a port alone is every address, shown as localhost") {
  const auto bound = bind_listener(at("", 0), 1);
  REQUIRE(bound);
  CHECK(bound->url.starts_with("http://localhost:"));
  CHECK(bound->reach == "every address of this machine");
}

TEST_CASE("bound listener: a Unix socket is shared by the threads; a second binder is refused") {
  char name[] = "/tmp/portico-listener-XXXXXX";
  REQUIRE(::mkdtemp(name) != nullptr);
  const std::string path = std::string(name) + "/door";
  const conf::Listener listener{{"", 0, path}, {}};
  {
    const auto bound = bind_listener(listener, 4);
    REQUIRE(bound);
    CHECK(bound->sockets.size() == 1);
    CHECK(bound->socket_of(3) == bound->sockets[0].get());
    CHECK(bound->url == "unix:" + path);
    const auto second = bind_listener(listener, 4);
    REQUIRE_FALSE(second);
    CHECK(second.error().os == EADDRINUSE);
  }
  CHECK(bind_listener(listener, 4));  // nobody listens any more: the stale path is replaced
  ::unlink(path.c_str());
  ::rmdir(name);
}
