// Prober: what it asks, when, and what comes of it; with endpoints over memory and a clock by hand.
#include "proxy/route/probe.h"

#include <catch2/catch.hpp>

#include "tests/support/forward_bench.h"

namespace portico::tests {
namespace {

using balancer::Condition;
using std::chrono::milliseconds;
using std::chrono::seconds;
using Manner = FakeEndpoint::Manner;

class ProbeBench {
 public:
  explicit ProbeBench(conf::Pool written) : pool(pools.open(written)) { loop.turn(); }
  ~ProbeBench() { pools.end_thread(loop); }

  FakeEndpoint& endpoint(std::string_view address = first_address) {
    return dialer.endpoints[std::string(address)];
  }
  Condition condition(std::size_t member = 0) {
    return pool->endpoint(member)->state().condition();
  }
  void answer(std::string_view bytes) {
    endpoint().last().arrive(bytes);
    loop.turn();
  }

  core::Loop loop{core::Loop::Drive::by_hand};
  FakeDialer dialer;
  route::Pools pools{1, dialer};
  route::Prober prober{loop, pools};
  std::shared_ptr<route::LivePool> pool;
};

conf::Pool asked(std::string_view path) {
  conf::Pool pool = pool_of({first_address});
  pool.health->path = path;
  return pool;
}

TEST_CASE("probe: without a path a connect is enough, and the first result decides") {
  ProbeBench bench(pool_of({first_address, second_address}));
  CHECK(bench.condition(0) == Condition::up);
  CHECK(bench.condition(1) == Condition::up);
  CHECK(bench.endpoint().last().closed());
  CHECK(bench.endpoint().last().sent().empty());
}

TEST_CASE("probe: rise and fall, an interval apart") {
  ProbeBench bench(pool_of({first_address, second_address}));
  bench.endpoint().manner = Manner::refuses;
  for (int i = 1; i <= 3; ++i) {
    CHECK(bench.condition(0) == Condition::up);
    bench.loop.pass(seconds(5));
    CHECK(bench.endpoint().dials == 1 + i);
  }
  CHECK(bench.condition(0) == Condition::down);
  CHECK(bench.condition(1) == Condition::up);
  bench.endpoint().manner = Manner::accepts;
  bench.loop.pass(seconds(5));
  CHECK(bench.condition(0) == Condition::down);
  bench.loop.pass(seconds(5));
  CHECK(bench.condition(0) == Condition::up);
}

TEST_CASE("probe: while nobody is usable it asks each second, and tells those that wait") {
  ProbeBench bench(pool_of({first_address}));
  bench.endpoint().manner = Manner::refuses;
  for (int i = 0; i < 15; ++i) bench.loop.pass(seconds(1));
  REQUIRE(bench.condition() == Condition::down);
  struct Waiter final : core::Active {
    using Active::Active;
    void advance() override {}
  } waiter(bench.loop);
  core::Ticket ticket(waiter);
  REQUIRE(ticket.enter(bench.pool->admission()));
  CHECK(ticket.waiting());
  bench.endpoint().manner = Manner::accepts;
  bench.loop.pass(seconds(1));
  CHECK(ticket.waiting());
  bench.loop.pass(seconds(1));
  CHECK(ticket.admitted());
}

TEST_CASE("probe: a path is asked for by GET, with the address for a Host") {
  ProbeBench bench(asked("/healthz"));
  CHECK(bench.endpoint().last().take_sent() ==
        "GET /healthz HTTP/1.1\r\nhost: 10.0.0.1:80\r\nuser-agent: portico (health)\r\n\r\n");
  CHECK(bench.condition() == Condition::probing);
  bench.answer("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
  CHECK(bench.condition() == Condition::up);
  CHECK(bench.endpoint().last().closed());
}

TEST_CASE("probe: the host of the configuration is used") {
  conf::Pool pool = asked("/");
  pool.health->host = "health.example";
  ProbeBench bench(pool);
  CHECK(has_line(bench.endpoint().last().take_sent(), "host: health.example"));
}

TEST_CASE("probe: only a status within the range is well") {
  struct Row {
    unsigned first, last;
    std::string_view status;
    Condition expected;
  };
  const Row rows[] = {
      {200, 399, "200 OK", Condition::up},          {200, 399, "302 Found", Condition::up},
      {200, 399, "404 Not Found", Condition::down}, {200, 399, "503 Sorry", Condition::down},
      {204, 204, "204 No Content", Condition::up},  {204, 204, "200 OK", Condition::down},
  };
  for (const Row& row : rows) {
    CAPTURE(row.status);
    conf::Pool pool = asked("/");
    pool.health->status_first = row.first;
    pool.health->status_last = row.last;
    ProbeBench bench(pool);
    bench.answer("HTTP/1.1 " + std::string(row.status) + "\r\nConnection: close\r\n\r\n");
    bench.endpoint().last().peer_ends();
    bench.loop.turn();
    CHECK(bench.condition() == row.expected);
  }
}

TEST_CASE("probe: silence, nonsense and an early end are ill") {
  {
    ProbeBench silent(asked("/"));
    silent.loop.pass(seconds(2));
    CHECK(silent.condition() == Condition::down);
  }
  {
    ProbeBench nonsense(asked("/"));
    nonsense.answer("SSH-2.0-OpenSSH\r\n\r\n");
    CHECK(nonsense.condition() == Condition::down);
  }
  {
    ProbeBench gone(asked("/"));
    gone.endpoint().last().peer_ends();
    gone.loop.turn();
    CHECK(gone.condition() == Condition::down);
  }
}

TEST_CASE("probe: a connect that hangs is ill after the timeout") {
  ProbeBench bench(pool_of({first_address}));
  bench.endpoint().manner = Manner::is_silent;
  bench.loop.pass(seconds(5));
  bench.loop.pass(seconds(2));
  bench.loop.pass(seconds(3));
  CHECK(bench.condition() == Condition::up);  // two failures; and never two probes at a time
  CHECK(bench.endpoint().dials == 3);
  bench.loop.pass(seconds(2));
  bench.loop.pass(seconds(3));
  bench.loop.pass(seconds(2));
  CHECK(bench.condition() == Condition::down);
}

TEST_CASE("probe: an endless health page is well, and not read to its end") {
  ProbeBench bench(asked("/"));
  bench.answer("HTTP/1.1 200 OK\r\n\r\n" + std::string(200'000, 'x'));
  CHECK(bench.condition() == Condition::up);
  CHECK(bench.endpoint().last().closed());
}

TEST_CASE("probe: our own want of descriptors is no result") {
  ProbeBench bench(pool_of({first_address}));
  bench.endpoint().manner = Manner::has_no_descriptors;
  for (int i = 0; i < 5; ++i) bench.loop.pass(seconds(5));
  CHECK(bench.condition() == Condition::up);
}

TEST_CASE("probe: a good result brings a marked endpoint back") {
  ProbeBench bench(pool_of({first_address, second_address}));
  balancer::Endpoint& state = bench.pool->endpoint(0)->state();
  for (int i = 0; i < 9; ++i)
    state.failed(bench.loop.now() + seconds(i * 60), bench.pool->balancer().outlier_rule());
  REQUIRE_FALSE(state.usable(bench.loop.now() + seconds(30)));
  bench.loop.pass(seconds(5));
  CHECK(state.usable(bench.loop.now()));
}

TEST_CASE("probe: health off asks nobody") {
  conf::Pool pool = pool_of({first_address});
  pool.health.reset();
  ProbeBench bench(pool);
  bench.loop.pass(seconds(60));
  CHECK(bench.endpoint().dials == 0);
  CHECK(bench.condition() == Condition::probing);
}

TEST_CASE("probe: a pool that comes later is watched, one that goes is left alone") {
  ProbeBench bench(pool_of({first_address}));
  conf::Pool other = pool_of({second_address});
  other.name = "other";
  auto later = bench.pools.open(other);
  bench.loop.turn();
  CHECK(bench.endpoint(second_address).dials == 1);
  later.reset();
  bench.loop.pass(seconds(5));
  bench.loop.pass(seconds(5));
  CHECK(bench.endpoint(second_address).dials == 1);
  CHECK(bench.endpoint(first_address).dials == 3);
}

}  // namespace
}  // namespace portico::tests
