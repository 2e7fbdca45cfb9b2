// Candidates of a pool: order, exclusion, caps, outages; and the state shared by threads.
#include "balancer/pool.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <string>
#include <thread>
#include <vector>

namespace portico::balancer {
namespace {

using std::chrono::seconds;

const Time now = Time() + std::chrono::hours(1);

conf::Pool written(std::initializer_list<unsigned> weights) {
  conf::Pool pool;
  for (const unsigned weight : weights) {
    conf::Endpoint endpoint;
    endpoint.weight = weight;
    pool.endpoints.push_back(endpoint);
  }
  return pool;
}

std::vector<std::shared_ptr<Endpoint>> states(std::size_t count) {
  std::vector<std::shared_ptr<Endpoint>> made;
  for (std::size_t i = 0; i < count; ++i)
    made.push_back(std::make_shared<Endpoint>(std::string(1, static_cast<char>('a' + i))));
  return made;
}

// All candidates of one request, as letters.
std::string order(Pool& pool, Time when = now) {
  std::string letters;
  Candidates candidates = pool.candidates(0);
  while (const Lease lease = candidates.next(when)) letters += lease.endpoint().name();
  return letters;
}

TEST_CASE("pool: each candidate comes once, the first of them by the policy") {
  Pool pool(written({1, 1, 1}), states(3));
  const std::string first = order(pool);
  const std::string second = order(pool);
  CHECK(first == "abc");
  CHECK(second.size() == 3);
  CHECK(std::string(second).find_first_not_of("abc") == std::string::npos);
  std::string starts;
  Pool plain(written({1, 1, 1}), states(3));
  for (int i = 0; i < 6; ++i) starts += plain.candidates(0).next(now).endpoint().name();
  CHECK(starts == "abcabc");
}

TEST_CASE("pool: after restart() all are candidates again") {
  Pool pool(written({1, 1}), states(2));
  Candidates candidates = pool.candidates(0);
  CHECK(candidates.next(now));
  CHECK(candidates.next(now));
  CHECK_FALSE(candidates.next(now));
  candidates.restart();
  CHECK(candidates.next(now));
}

TEST_CASE("pool: endpoints that are down, unresolved or marked are no candidates") {
  auto endpoints = states(4);
  Pool pool(written({1, 1, 1, 1}), endpoints);
  endpoints[0]->probed(Probed::ill, pool.thresholds());
  endpoints[1]->resolvable(false);
  for (int i = 0; i < 3; ++i) endpoints[2]->failed(now, pool.outlier_rule());
  CHECK(order(pool) == "d");
  CHECK(pool.usable(now) == 1);
  CHECK(endpoints[0]->outage(now) == Outage::probes);
  CHECK(endpoints[1]->outage(now) == Outage::name);
  CHECK(endpoints[2]->outage(now) == Outage::failures);
  CHECK(name(endpoints[1]->outage(now)) == "DNS");
  CHECK(pool.next_return(now) == now + seconds(5));
  CHECK(order(pool, now + seconds(5)).size() == 2);
  CHECK(pool.next_return(now + seconds(5)) == Time::max());
}

TEST_CASE("pool: fall and interval of health rule the passive marks too") {
  conf::Pool one = written({1});
  one.health->fall = 1;
  one.health->interval = seconds(9);
  auto endpoints = states(1);
  Pool pool(one, endpoints);
  endpoints[0]->failed(now, pool.outlier_rule());
  CHECK(endpoints[0]->back_at() == now + seconds(9));
}

TEST_CASE("endpoint: a good probe brings a marked one back, and says that something changed") {
  auto endpoints = states(1);
  Pool pool(written({1}), endpoints);
  Endpoint& endpoint = *endpoints[0];
  CHECK(endpoint.probed(Probed::well, pool.thresholds()));
  CHECK_FALSE(endpoint.probed(Probed::well, pool.thresholds()));
  for (int i = 0; i < 3; ++i) endpoint.failed(now, pool.outlier_rule());
  CHECK_FALSE(endpoint.usable(now));
  CHECK(endpoint.probed(Probed::well, pool.thresholds()));
  CHECK(endpoint.usable(now));
}

TEST_CASE("pool: a lease counts as in flight as long as it lives") {
  auto endpoints = states(1);
  Pool pool(written({1}), endpoints);
  {
    Lease first = pool.candidates(0).next(now);
    const Lease second = pool.candidates(0).next(now);
    CHECK(endpoints[0]->in_flight() == 2);
    first = {};
    CHECK(endpoints[0]->in_flight() == 1);
    Lease third;
    third = pool.candidates(0).next(now);
    const Lease moved = std::move(third);
    CHECK(endpoints[0]->in_flight() == 2);
  }
  CHECK(endpoints[0]->in_flight() == 0);
}

TEST_CASE("pool: with a cap, whoever has room comes first") {
  conf::Pool capped = written({10, 1});
  capped.connections = 2;
  Pool pool(capped, states(2));
  std::vector<Lease> leases;
  std::string letters;
  for (int i = 0; i < 4; ++i) {
    leases.push_back(pool.candidates(0).next(now));
    letters += leases.back().endpoint().name();
  }
  CHECK(std::count(letters.begin(), letters.end(), 'a') == 2);
  CHECK(std::count(letters.begin(), letters.end(), 'b') == 2);
}

TEST_CASE("pool: threads choose evenly and every lease comes back") {
  auto endpoints = states(4);
  Pool pool(written({1, 1, 1, 1}), endpoints);
  std::array<std::atomic<int>, 4> count{};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&pool, &count] {
      for (int i = 0; i < 2000; ++i) {
        const Lease lease = pool.candidates(0).next(now);
        ++count[lease.member()];
        lease.endpoint().succeeded(now);
        pool.retry_budget().request();
      }
    });
  }
  for (auto& thread : threads) thread.join();
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(count[i] == 2000);
    CHECK(endpoints[i]->in_flight() == 0);
  }
}

}  // namespace
}  // namespace portico::balancer
