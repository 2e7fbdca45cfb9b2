// ForwardBench: a server with a real session in front of the forward handler, and endpoints that a
// test plays: no port, no sleeping. One thread, a loop driven by hand.
#pragma once

#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "conf/config.h"
#include "proxy/client/dialer.h"
#include "proxy/core/timer.h"
#include "proxy/http/target.h"
#include "proxy/route/forward.h"
#include "proxy/route/live_pool.h"
#include "proxy/route/pools.h"
#include "tests/support/memory_transport.h"
#include "tests/support/serve_fixture.h"

namespace portico::tests {

/// What stands at an address.
struct FakeEndpoint {
  enum class Manner { accepts, refuses, is_silent, has_no_descriptors } manner = Manner::accepts;
  std::vector<std::unique_ptr<MemoryPeer>> peers;  ///< one for each connection, oldest first
  int dials = 0;

  MemoryPeer& last() { return *peers.back(); }
};

class FakeDialer final : public client::Dialer {
 public:
  std::unique_ptr<client::Dial> dial(core::Active& owner, const net::Address& address,
                                     core::Duration limit) override {
    FakeEndpoint& endpoint = endpoints[address.text()];
    ++endpoint.dials;
    return std::make_unique<FakeDial>(owner, endpoint, limit);
  }

  std::map<std::string, FakeEndpoint> endpoints;

 private:
  class FakeDial final : public client::Dial {
   public:
    FakeDial(core::Active& owner, FakeEndpoint& endpoint, core::Duration limit)
        : endpoint_(endpoint), timer_(owner) {
      timer_.set_after(limit);
    }
    core::Result<std::unique_ptr<net::Transport>> take() override {
      using enum FakeEndpoint::Manner;
      using core::Fault;
      switch (endpoint_.manner) {
        case refuses:
          return core::Error{Fault::connection_refused, ECONNREFUSED, "connecting"};
        case has_no_descriptors:
          return core::Error{Fault::no_descriptors, EMFILE, "connecting"};
        case is_silent:
          if (timer_.due()) return core::Error{Fault::connect_timeout, 0, "connecting"};
          return std::unique_ptr<net::Transport>();
        case accepts:
          break;
      }
      endpoint_.peers.push_back(std::make_unique<MemoryPeer>());
      return endpoint_.last().transport();
    }

   private:
    FakeEndpoint& endpoint_;
    core::Timer timer_;
  };
};

inline conf::Pool pool_of(std::initializer_list<std::string_view> addresses) {
  conf::Pool pool;
  pool.name = "api";
  for (const std::string_view text : addresses) {
    conf::Endpoint endpoint;
    const auto colon = text.rfind(':');
    endpoint.address.host = text.substr(0, colon);
    endpoint.address.port =
        static_cast<std::uint16_t>(std::stoi(std::string(text.substr(colon + 1))));
    pool.endpoints.push_back(endpoint);
  }
  return pool;
}

inline constexpr std::string_view first_address = "10.0.0.1:80";
inline constexpr std::string_view second_address = "10.0.0.2:80";

class ForwardBench {
 public:
  explicit ForwardBench(conf::Pool written = pool_of({first_address}), conf::Timeouts timeouts = {})
      : timeouts_(timeouts), pool(pools.open(written)) {
    conf::Route route;
    route.timeouts = timeouts_;
    handler_ = route::make_forward(route, pool, pools);
    serve.use([this](serve::Exchange& exchange) {
      REQUIRE(http::canonicalise(exchange.mutable_request().where, {}));
      return handler_->start(exchange);
    });
  }
  ~ForwardBench() {  // as a front thread ends: sessions, then kept connections, then the loop
    Nobody nobody(loop());
    serve.server.drain(loop().now(), nobody);
    loop().turn();
    pools.end_thread(loop());
  }

  core::Loop& loop() { return serve.loop; }
  FakeEndpoint& endpoint(std::string_view address = first_address) {
    return dialer.endpoints[std::string(address)];
  }
  balancer::Endpoint& state(std::size_t member = 0) { return pool->endpoint(member)->state(); }

  /// A client that sends bytes; what comes back is read off the peer later.
  MemoryPeer& client(std::string_view bytes) {
    clients_.push_back(serve.connect());
    clients_.back()->arrive(bytes);
    loop().turn();
    return *clients_.back();
  }
  /// The endpoint says so on its newest connection.
  void answer(std::string_view bytes, std::string_view address = first_address) {
    endpoint(address).last().arrive(bytes);
    loop().turn();
  }
  /// A whole GET, so that a kept connection lies there.
  void warm(std::string_view address = first_address) {
    MemoryPeer& peer = client(get);
    answer(fine, address);
    REQUIRE(status_of(peer.take_sent()) == "200");
    endpoint(address).last().take_sent();
  }
  const serve::Trace& trace() const { return serve.journal.last().trace; }
  core::Fault fault() const { return trace().error.fault; }

  static constexpr std::string_view get = "GET / HTTP/1.1\r\nHost: a.example\r\n\r\n";
  static constexpr std::string_view fine = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

 private:
  struct Nobody final : core::Active {
    using Active::Active;
    void advance() override {}
  };

  conf::Timeouts timeouts_;
  std::shared_ptr<const serve::Handler> handler_;

 public:
  FakeDialer dialer;
  route::Pools pools{1, dialer};
  std::shared_ptr<route::LivePool> pool;
  ServeFixture serve;

 private:
  std::vector<std::unique_ptr<MemoryPeer>> clients_;
};

}  // namespace portico::tests
