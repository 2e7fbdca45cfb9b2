// WsgiCallBench: one WsgiCall between an exchange of the test's and fake workers. Of the test; one
// thread.
#pragma once

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "backend/front/wsgi_call.h"
#include "proxy/http/target.h"
#include "tests/support/fake_exchange.h"
#include "tests/support/pieces.h"
#include "tests/support/wsgi_bench.h"

namespace portico::tests {

struct WsgiCallBench {
  explicit WsgiCallBench(std::string_view head = "GET / HTTP/1.1\r\nHost: a.example\r\n\r\n",
                         core::Loop::Drive drive = core::Loop::Drive::by_hand)
      : wsgi(drive), exchange(head, &wsgi.loop) {
    REQUIRE(http::canonicalise(exchange.mutable_request().where, {}));
    exchange.bring(source);
    exchange.trace().client = exchange.connection().client;
    route.timeouts.queue = std::chrono::seconds(10);
    route.timeouts.response = std::chrono::seconds(30);
  }
  ~WsgiCallBench() {
    exchange.response_body().reset();
    call.reset();
  }

  void begin() {
    call = std::make_unique<backend::WsgiCall>(exchange, *wsgi.app, route, "");
    call->begin();
    wsgi.loop.turn();
  }
  void pass(core::Duration time) { wsgi.loop.pass(time); }
  /// The clock in steps, as timers that are moved need it.
  void pass_in_steps(core::Duration time, core::Duration step = std::chrono::seconds(1)) {
    for (; time > core::Duration(0); time -= step) pass(step);
  }
  std::uint64_t now_ns() const {
    return static_cast<std::uint64_t>(wsgi.loop.now().time_since_epoch().count());
  }
  /// What the client gets so far.
  core::Flow pull() {
    http::Pull pulled;
    while ((pulled = exchange.response_body()->pull(1000, reader)).flow == core::Flow::data)
      body += text_of(pulled.piece);
    error = pulled.error;
    return pulled.flow;
  }
  template <typename Holds>
  void until(Holds&& holds) {
    REQUIRE(wsgi.until(holds));
  }

  WsgiBench wsgi;
  FakeExchange exchange;
  ScriptedBody source;
  conf::Route route;
  Agent reader{wsgi.loop, [] {}};
  std::string body;
  core::Error error;
  std::unique_ptr<backend::WsgiCall> call;
};

}  // namespace portico::tests
