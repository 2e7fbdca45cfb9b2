// Forward: when the next candidate is asked, and when it must not be.
#include <catch2/catch.hpp>

#include "tests/support/forward_bench.h"

namespace portico::tests {
namespace {

using core::Fault;
using std::chrono::seconds;
using Manner = FakeEndpoint::Manner;

constexpr std::string_view post =
    "POST / HTTP/1.1\r\nHost: a.example\r\nContent-Length: 4\r\n\r\nbody";

conf::Pool two() { return pool_of({first_address, second_address}); }

// Ends the connection on which a request lies, without a byte of an answer.
void close_unanswered(ForwardBench& bench, std::string_view address = first_address) {
  bench.endpoint(address).last().peer_ends();
  bench.loop().turn();
}

TEST_CASE("retry: a refused connect goes to the next candidate, whatever the method") {
  for (const std::string_view request : {ForwardBench::get, post}) {
    ForwardBench bench(two());
    bench.endpoint(first_address).manner = Manner::refuses;
    MemoryPeer& client = bench.client(request);
    REQUIRE(bench.endpoint(second_address).dials == 1);
    if (request == post) CHECK(body_of(bench.endpoint(second_address).last().sent()) == "body");
    bench.answer(ForwardBench::fine, second_address);
    CHECK(status_of(client.take_sent()) == "200");
    CHECK(bench.trace().attempts == 2);
    CHECK(bench.trace().upstream == second_address);
  }
}

TEST_CASE("retry: so does a connect that times out") {
  ForwardBench bench(two());
  bench.endpoint(first_address).manner = Manner::is_silent;
  MemoryPeer& client = bench.client(post);
  bench.loop().pass(seconds(5));
  bench.answer(ForwardBench::fine, second_address);
  CHECK(status_of(client.take_sent()) == "200");
}

TEST_CASE("retry: a reused connection that closes before a byte: GET goes on, elsewhere") {
  ForwardBench bench(two());
  bench.warm(first_address);
  bench.warm(second_address);
  MemoryPeer& client = bench.client(ForwardBench::get);
  close_unanswered(bench);
  REQUIRE(bench.endpoint(second_address).peers.size() == 2);  // a fresh one, no kept one
  bench.answer(ForwardBench::fine, second_address);
  CHECK(status_of(client.take_sent()) == "200");
  CHECK(bench.trace().attempts == 2);
}

TEST_CASE("retry: with one endpoint the request goes to it again, over a fresh connection") {
  ForwardBench bench;
  bench.warm();
  MemoryPeer& client = bench.client(ForwardBench::get);
  close_unanswered(bench);
  REQUIRE(bench.endpoint().peers.size() == 2);
  bench.answer(ForwardBench::fine);
  CHECK(status_of(client.take_sent()) == "200");
}

TEST_CASE("retry: a reset counts as a close, a timeout does not") {
  ForwardBench bench;
  bench.warm();
  bench.client(ForwardBench::get);
  bench.endpoint().last().peer_resets();
  bench.loop().turn();
  CHECK(bench.endpoint().peers.size() == 2);

  ForwardBench slow;
  slow.warm();
  MemoryPeer& client = slow.client(ForwardBench::get);
  slow.loop().pass(seconds(60));
  CHECK(status_of(client.take_sent()) == "504");
  CHECK(slow.endpoint().peers.size() == 1);
}

TEST_CASE("retry: methods that are not idempotent are never sent twice") {
  for (const std::string_view method : {"POST", "PATCH", "FOO"}) {
    ForwardBench bench(two());
    bench.warm(first_address);
    bench.warm(second_address);
    MemoryPeer& client =
        bench.client(std::string(method) + " / HTTP/1.1\r\nHost: a.example\r\n\r\n");
    close_unanswered(bench);
    CHECK(status_of(client.take_sent()) == "502");
    CHECK(bench.fault() == Fault::endpoint_closed);
    CHECK(bench.trace().attempts == 1);
  }
}

TEST_CASE("retry: idempotent methods with a body only if nothing of it was taken") {
  ForwardBench bench;
  bench.warm();
  MemoryPeer& client =
      bench.client("PUT / HTTP/1.1\r\nHost: a.example\r\nContent-Length: 4\r\n\r\nbody");
  close_unanswered(bench);
  CHECK(status_of(client.take_sent()) == "502");

  ForwardBench early;
  early.warm();
  MemoryPeer& late = early.client("PUT / HTTP/1.1\r\nHost: a.example\r\nContent-Length: 4\r\n\r\n");
  close_unanswered(early);
  late.arrive("body");
  early.loop().turn();
  CHECK(body_of(early.endpoint().last().sent()) == "body");
  early.answer(ForwardBench::fine);
  CHECK(status_of(late.take_sent()) == "200");
}

TEST_CASE("retry: a fresh connection that closes unanswered: GET goes on, PUT and POST do not") {
  const std::string_view put = "PUT / HTTP/1.1\r\nHost: a.example\r\nContent-Length: 0\r\n\r\n";
  for (const std::string_view request : {ForwardBench::get, put, post}) {
    ForwardBench bench(two());
    MemoryPeer& client = bench.client(request);
    close_unanswered(bench);
    const bool goes_on = request == ForwardBench::get;
    if (goes_on) bench.answer(ForwardBench::fine, second_address);
    CHECK(status_of(client.take_sent()) == (goes_on ? "200" : "502"));
    CHECK(bench.endpoint(second_address).dials == (goes_on ? 1 : 0));
  }
}

TEST_CASE("retry: a request on which two endpoints died is not given to a third") {
  ForwardBench bench(pool_of({first_address, second_address, "10.0.0.3:80"}));
  MemoryPeer& client = bench.client(ForwardBench::get);
  for (const std::string_view address : {first_address, second_address}) {
    bench.endpoint(address).manner = Manner::refuses;
    close_unanswered(bench, address);
  }
  CHECK(status_of(client.take_sent()) == "502");
  CHECK(bench.endpoint("10.0.0.3:80").dials == 0);
}

TEST_CASE("retry: after the first byte of an answer never") {
  ForwardBench bench;
  bench.warm();
  MemoryPeer& client = bench.client(ForwardBench::get);
  bench.answer("H");
  close_unanswered(bench);
  CHECK(status_of(client.take_sent()) == "502");
  CHECK(bench.fault() == Fault::response_cut);
  CHECK(bench.endpoint().peers.size() == 1);
}

TEST_CASE("retry: sent again once after a kept connection, once after a fresh one, then no more") {
  ForwardBench bench(two());
  bench.warm(first_address);
  bench.warm(second_address);
  MemoryPeer& client = bench.client(ForwardBench::get);
  close_unanswered(bench, first_address);
  close_unanswered(bench, second_address);
  for (const std::string_view either : {first_address, second_address})
    close_unanswered(bench, either);
  CHECK(status_of(client.take_sent()) == "502");
  CHECK(bench.trace().attempts == 3);
}

TEST_CASE("retry: the budget ends what would be a storm") {
  ForwardBench bench;
  while (bench.pool->balancer().retry_budget().take()) continue;
  bench.warm();
  MemoryPeer& client = bench.client(ForwardBench::get);
  close_unanswered(bench);
  CHECK(status_of(client.take_sent()) == "502");
}

TEST_CASE("marks: three refused connects in a row take an endpoint out") {
  ForwardBench bench(two());
  bench.endpoint(first_address).manner = Manner::refuses;
  for (int i = 0; i < 20; ++i) {
    MemoryPeer& client = bench.client(ForwardBench::get);
    bench.answer(ForwardBench::fine, second_address);
    CHECK(status_of(client.take_sent()) == "200");
  }
  CHECK(bench.endpoint(first_address).dials == 3);
  CHECK(bench.state(0).outage(bench.loop().now()) == balancer::Outage::failures);
  bench.loop().pass(seconds(5));
  CHECK(bench.state(0).usable(bench.loop().now()));
}

TEST_CASE("marks: fresh connections that close unanswered count, reused ones do not") {
  ForwardBench bench;
  for (int i = 0; i < 3; ++i) {
    bench.client(post);
    close_unanswered(bench);
  }
  CHECK_FALSE(bench.state().usable(bench.loop().now()));

  ForwardBench kept;
  for (int i = 0; i < 5; ++i) {
    kept.warm();
    kept.client(post);
    close_unanswered(kept);
  }
  CHECK(kept.state().usable(kept.loop().now()));
}

TEST_CASE("marks: slow and odd answers are no reason") {
  ForwardBench bench;
  for (int i = 0; i < 5; ++i) {
    bench.client(ForwardBench::get);
    bench.answer("nonsense\r\n\r\n");
    bench.client(ForwardBench::get);
    bench.loop().pass(seconds(60));
  }
  CHECK(bench.state().usable(bench.loop().now()));
}

TEST_CASE(
    "names: an endpoint of several addresses is tried at each, the good one first next time") {
  ForwardBench bench(pool_of({"api.internal:80"}));
  bench.pool->endpoint(0)->resolved(
      {*net::Address::parse(first_address), *net::Address::parse(second_address)});
  bench.pool->recount(bench.loop().now());
  bench.endpoint(first_address).manner = Manner::refuses;
  for (int i = 0; i < 2; ++i) {
    MemoryPeer& client =
        bench.client("GET / HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n\r\n");
    bench.answer("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
                 second_address);
    CHECK(status_of(client.take_sent()) == "200");
    CHECK(bench.trace().attempts == 1);
    CHECK(bench.trace().upstream == "api.internal:80");
  }
  CHECK(bench.endpoint(first_address).dials == 1);
}

}  // namespace
}  // namespace portico::tests
