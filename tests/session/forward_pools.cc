// Pools from one snapshot to the next: what is kept, what is made anew.
#include "proxy/route/pools.h"

#include <catch2/catch.hpp>

#include "proxy/client/connections.h"
#include "tests/support/forward_bench.h"

namespace portico::tests {
namespace {

using balancer::Condition;
using balancer::Probed;
using std::chrono::seconds;

struct PoolsBench {
  FakeDialer dialer;
  route::Pools pools{2, dialer};
};

TEST_CASE("pools: an equal configuration is the same pool, wherever it is written") {
  PoolsBench bench;
  const auto first = bench.pools.open(pool_of({first_address}));
  conf::Pool moved = pool_of({first_address});
  moved.where.line = 77;
  moved.endpoints[0].where.line = 78;
  CHECK(bench.pools.open(moved) == first);
  CHECK(bench.pools.all().size() == 1);
}

TEST_CASE("pools: a changed pool keeps the state of the endpoints that stay") {
  PoolsBench bench;
  auto before = bench.pools.open(pool_of({first_address, second_address}));
  before->endpoint(0)->state().probed(Probed::ill, {2, 3});
  before->endpoint(1)->state().idle_limit().told(seconds(5), core::Clock::now());
  conf::Pool changed = pool_of({"10.0.0.3:80", second_address, first_address});
  changed.policy = conf::Policy::least_requests;
  const auto after = bench.pools.open(changed);
  CHECK(after != before);
  CHECK(after->endpoint(2) == before->endpoint(0));
  before.reset();
  CHECK(after->endpoint(0)->state().condition() == Condition::probing);
  CHECK(after->endpoint(2)->state().condition() == Condition::down);
  CHECK(after->endpoint(1)->idle_limit(seconds(60), core::Clock::now()) == seconds(4));
}

TEST_CASE("pools: the same address in two pools is two endpoints") {
  PoolsBench bench;
  const auto one = bench.pools.open(pool_of({first_address}));
  conf::Pool other = pool_of({first_address});
  other.name = "other";
  CHECK(bench.pools.open(other)->endpoint(0) != one->endpoint(0));
}

TEST_CASE("pools: what nobody holds is forgotten") {
  PoolsBench bench;
  bench.pools.open(pool_of({first_address}))->endpoint(0)->state().probed(Probed::ill, {2, 3});
  CHECK(bench.pools.all().empty());
  CHECK(bench.pools.open(pool_of({first_address}))->endpoint(0)->state().condition() ==
        Condition::probing);
}

TEST_CASE("pools: each thread has connections of its own") {
  PoolsBench bench;
  core::Loop first(core::Loop::Drive::by_hand, 0);
  core::Loop second(core::Loop::Drive::by_hand, 1);
  client::Connections& mine = bench.pools.connections(first);
  CHECK(&bench.pools.connections(first) == &mine);
  CHECK(&bench.pools.connections(second) != &mine);
  CHECK(&bench.pools.connections(second).loop() == &second);
  bench.pools.end_thread(first);
  bench.pools.end_thread(second);
}

TEST_CASE("live endpoint: literal addresses are known, names are down until they resolve") {
  conf::Address address;
  address.host = "2001:db8::1";
  address.port = 80;
  route::LiveEndpoint literal(address);
  CHECK_FALSE(literal.named());
  REQUIRE(literal.addresses()->size() == 1);
  CHECK(literal.addresses()->front().text() == "[2001:db8::1]:80");

  conf::Address path;
  path.path = "/run/app.sock";
  CHECK(route::LiveEndpoint(path).addresses()->front().path() == "/run/app.sock");

  address.host = "api.internal";
  route::LiveEndpoint named(address);
  CHECK(named.named());
  CHECK(named.state().outage({}) == balancer::Outage::name);
  named.resolved({*net::Address::parse(first_address)});
  CHECK(named.state().usable({}));
}

TEST_CASE("live pool: tickets follow the usable endpoints") {
  PoolsBench bench;
  conf::Pool capped = pool_of({first_address, second_address});
  capped.connections = 3;
  const auto pool = bench.pools.open(capped);
  core::Loop loop(core::Loop::Drive::by_hand);
  struct Waiter final : core::Active {
    using Active::Active;
    void advance() override {}
  } waiter(loop);
  std::vector<std::unique_ptr<core::Ticket>> tickets;
  for (int i = 0; i < 7; ++i) {
    tickets.push_back(std::make_unique<core::Ticket>(waiter));
    REQUIRE(tickets.back()->enter(pool->admission()));
  }
  CHECK(pool->admission().in_use() == 6);
  CHECK(pool->admission().waiting() == 1);
  pool->endpoint(0)->state().probed(Probed::ill, {2, 3});
  CHECK(pool->recount(loop.now()) == 1);
  tickets.erase(tickets.begin(), tickets.begin() + 3);
  CHECK(pool->admission().in_use() == 3);
  CHECK(pool->admission().waiting() == 1);
  tickets.erase(tickets.begin());
  CHECK(pool->admission().waiting() == 0);
}

}  // namespace
}  // namespace portico::tests
