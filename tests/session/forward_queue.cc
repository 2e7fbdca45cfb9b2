// Forward: requests that wait: for an endpoint to come back, or for a place at one.
#include <catch2/catch.hpp>

#include "tests/support/forward_bench.h"

namespace portico::tests {
namespace {

using balancer::Probed;
using core::Fault;
using std::chrono::milliseconds;
using std::chrono::seconds;
using Manner = FakeEndpoint::Manner;

void probe(ForwardBench& bench, Probed result, std::size_t member = 0) {
  bench.state(member).probed(result, {1, 1});
  bench.pool->recount(bench.loop().now());
  bench.loop().turn();
}

conf::Pool capped(std::uint64_t connections, std::uint64_t queue = 100) {
  conf::Pool pool = pool_of({first_address});
  pool.connections = connections;
  pool.queue = queue;
  return pool;
}

TEST_CASE("hold: all down is 503 with Retry-After, once min(queue, connect) has passed") {
  struct Row {
    seconds queue, connect, expected;
  };
  for (const Row row :
       {Row{seconds(60), seconds(5), seconds(5)}, Row{seconds(2), seconds(5), seconds(2)}}) {
    conf::Timeouts timeouts;
    timeouts.queue = row.queue;
    timeouts.connect = row.connect;
    conf::Pool pool = pool_of({first_address});
    pool.health->interval = milliseconds(6200);
    ForwardBench bench(pool, timeouts);
    probe(bench, Probed::ill);
    MemoryPeer& client = bench.client(ForwardBench::get);
    bench.loop().pass(row.expected - milliseconds(1));
    CHECK(client.sent().empty());
    bench.loop().pass(milliseconds(1));
    CHECK(status_of(client.take_sent()) == "503");
    CHECK(bench.fault() == Fault::no_endpoint);
    CHECK(bench.trace().retry_after == seconds(7));
    CHECK(bench.endpoint().dials == 0);
  }
}

TEST_CASE("hold: an endpoint that comes back serves those that wait, at once") {
  ForwardBench bench;
  probe(bench, Probed::ill);
  for (int i = 0; i < 3; ++i) bench.client(ForwardBench::get);
  CHECK(bench.pool->admission().waiting() == 3);
  bench.loop().pass(seconds(1));
  probe(bench, Probed::well);
  CHECK(bench.endpoint().dials == 3);
  CHECK(bench.pool->admission().waiting() == 0);
}

TEST_CASE("hold: a mark that runs out ends the wait") {
  conf::Timeouts timeouts;
  timeouts.connect = seconds(30);
  ForwardBench bench(pool_of({first_address}), timeouts);
  for (int i = 0; i < 3; ++i)
    bench.state().failed(bench.loop().now(), bench.pool->balancer().outlier_rule());
  MemoryPeer& client = bench.client(ForwardBench::get);
  CHECK(bench.endpoint().dials == 0);
  bench.loop().pass(seconds(5));
  bench.answer(ForwardBench::fine);
  CHECK(status_of(client.take_sent()) == "200");
}

// A server that restarts behind its pool of one: the request waits for it.
TEST_CASE("hold: refused by every candidate is asked again until the time is over") {
  ForwardBench bench;
  bench.endpoint().manner = Manner::refuses;
  MemoryPeer& client = bench.client(ForwardBench::get);
  bench.loop().pass(milliseconds(150));
  CHECK(client.sent().empty());
  bench.endpoint().manner = Manner::accepts;
  bench.loop().pass(milliseconds(100));
  bench.answer(ForwardBench::fine);
  CHECK(status_of(client.take_sent()) == "200");
}

TEST_CASE("hold: refused to the end is 503, and the cause stands in the trace") {
  ForwardBench bench;
  bench.endpoint().manner = Manner::refuses;
  MemoryPeer& client = bench.client(ForwardBench::get);
  for (int i = 0; i < 50; ++i) bench.loop().pass(milliseconds(100));
  CHECK(status_of(client.take_sent()) == "503");
  CHECK(bench.fault() == Fault::no_endpoint);
  CHECK(bench.trace().error.os == ECONNREFUSED);
  CHECK(bench.endpoint().dials == 3);  // then it was marked
}

TEST_CASE("hold: a name that does not resolve is told as such") {
  ForwardBench bench(pool_of({"api.internal:80"}));
  MemoryPeer& client = bench.client(ForwardBench::get);
  bench.loop().pass(seconds(5));
  CHECK(status_of(client.take_sent()) == "503");
  CHECK(bench.fault() == Fault::name_unresolved);
}

TEST_CASE("hold: a name that resolves while requests wait serves them") {
  ForwardBench bench(pool_of({"api.internal:80"}));
  MemoryPeer& client = bench.client(ForwardBench::get);
  bench.pool->endpoint(0)->resolved({*net::Address::parse(first_address)});
  bench.pool->recount(bench.loop().now());
  bench.loop().turn();
  bench.answer(ForwardBench::fine);
  CHECK(status_of(client.take_sent()) == "200");
}

TEST_CASE("hold: more than may wait are refused at once") {
  conf::Pool pool = pool_of({first_address});
  pool.queue = 2;
  ForwardBench bench(pool);
  probe(bench, Probed::ill);
  for (int i = 0; i < 2; ++i) CHECK(bench.client(ForwardBench::get).sent().empty());
  MemoryPeer& third = bench.client(ForwardBench::get);
  CHECK(status_of(third.take_sent()) == "503");
  CHECK(bench.fault() == Fault::queue_full);
}

TEST_CASE("hold: a client that ends its side while it waits is given up after a second") {
  ForwardBench bench;
  probe(bench, Probed::ill);
  MemoryPeer& client = bench.client(ForwardBench::get);
  client.peer_ends();
  bench.loop().turn();
  bench.loop().pass(milliseconds(999));
  CHECK(bench.pool->admission().waiting() == 1);
  bench.loop().pass(milliseconds(1));
  CHECK(bench.fault() == Fault::client_gone);
  CHECK(bench.pool->admission().waiting() == 0);
}

TEST_CASE("hold: a client that has ended its side is answered when its turn comes soon") {
  ForwardBench bench;
  probe(bench, Probed::ill);
  MemoryPeer& client = bench.client(ForwardBench::get);
  client.peer_ends();
  bench.loop().turn();
  bench.loop().pass(milliseconds(500));
  probe(bench, Probed::well);
  bench.loop().pass(seconds(2));
  bench.answer(ForwardBench::fine);
  CHECK(status_of(client.take_sent()) == "200");
}

TEST_CASE("queue: more than the cap wait, and go on in their order") {
  ForwardBench bench(capped(1));
  MemoryPeer& first = bench.client(ForwardBench::get);
  MemoryPeer& second = bench.client("GET /2 HTTP/1.1\r\nHost: a.example\r\n\r\n");
  MemoryPeer& third = bench.client("GET /3 HTTP/1.1\r\nHost: a.example\r\n\r\n");
  CHECK(bench.endpoint().dials == 1);
  CHECK(bench.pool->admission().waiting() == 2);
  bench.endpoint().last().take_sent();
  bench.answer(ForwardBench::fine);
  CHECK(status_of(first.take_sent()) == "200");
  CHECK(count(bench.endpoint().last().take_sent(), "GET /2") == 1);
  CHECK(bench.endpoint().dials == 1);
  bench.answer(ForwardBench::fine);
  CHECK(status_of(second.take_sent()) == "200");
  CHECK(count(bench.endpoint().last().take_sent(), "GET /3") == 1);
  bench.answer(ForwardBench::fine);
  CHECK(status_of(third.take_sent()) == "200");
  CHECK(bench.pool->admission().in_use() == 0);
}

TEST_CASE("queue: a slow client gives its place away when the endpoint has said all") {
  ForwardBench bench(capped(1));
  MemoryPeer& slow = bench.client("");
  slow.limit_room(10);
  slow.arrive(ForwardBench::get);
  bench.loop().turn();
  MemoryPeer& next = bench.client(ForwardBench::get);
  bench.answer(ForwardBench::fine);
  bench.answer(ForwardBench::fine);
  CHECK(status_of(next.take_sent()) == "200");
}

TEST_CASE("queue: whoever waits too long gets 503") {
  conf::Timeouts timeouts;
  timeouts.queue = seconds(3);
  ForwardBench bench(capped(1), timeouts);
  bench.client(ForwardBench::get);
  MemoryPeer& second = bench.client(ForwardBench::get);
  bench.loop().pass(seconds(3));
  CHECK(status_of(second.take_sent()) == "503");
  CHECK(bench.fault() == Fault::queue_timeout);
  CHECK(bench.pool->admission().waiting() == 0);
}

TEST_CASE("queue: a full queue is 503 at once") {
  ForwardBench bench(capped(1, 1));
  bench.client(ForwardBench::get);
  bench.client(ForwardBench::get);
  MemoryPeer& third = bench.client(ForwardBench::get);
  CHECK(status_of(third.take_sent()) == "503");
  CHECK(bench.fault() == Fault::queue_full);
}

TEST_CASE("queue: a client that leaves gives its place or its turn away") {
  ForwardBench bench(capped(1));
  MemoryPeer& first = bench.client(ForwardBench::get);
  MemoryPeer& second = bench.client(ForwardBench::get);
  MemoryPeer& third = bench.client("GET /3 HTTP/1.1\r\nHost: a.example\r\n\r\n");
  second.peer_resets();
  bench.loop().turn();
  CHECK(bench.pool->admission().waiting() == 1);
  first.peer_resets();
  bench.loop().turn();
  CHECK(count(bench.endpoint().last().take_sent(), "GET /3") == 1);
  bench.answer(ForwardBench::fine);
  CHECK(status_of(third.take_sent()) == "200");
}

TEST_CASE("queue: a capped pool that is down holds as any other") {
  ForwardBench bench(capped(1));
  probe(bench, Probed::ill);
  MemoryPeer& client = bench.client(ForwardBench::get);
  MemoryPeer& other = bench.client(ForwardBench::get);
  probe(bench, Probed::well);
  CHECK(bench.endpoint().dials == 1);
  bench.answer(ForwardBench::fine);
  CHECK(status_of(client.take_sent()) == "200");
  probe(bench, Probed::ill);
  bench.answer(ForwardBench::fine);
  CHECK(status_of(other.take_sent()) == "200");
  MemoryPeer& late = bench.client(ForwardBench::get);
  bench.loop().pass(seconds(5));
  CHECK(status_of(late.take_sent()) == "503");
  CHECK(bench.fault() == Fault::no_endpoint);
}

}  // namespace
}  // namespace portico::tests
