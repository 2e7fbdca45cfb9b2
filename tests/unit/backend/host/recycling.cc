// Which worker is due, and why, with a clock of the test's.
#include "backend/host/recycling.h"

#include <catch2/catch.hpp>
#include <set>

#include "tests/support/run_loop.h"

using namespace portico;
using namespace portico::tests;
using backend::Recycling;
using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

struct Bench {
  explicit Bench(conf::Recycle rules) : recycling(owner, rules) {}

  bool any(Recycling::Id) const { return true; }
  Recycling::Id choose() {
    return recycling.choose([](Recycling::Id) { return true; });
  }

  core::Loop loop{core::Loop::Drive::by_hand};
  int wakes = 0;
  Agent owner{loop, [this] { ++wakes; }};
  Recycling recycling;
};

using Ids = std::vector<Recycling::Id>;

}  // namespace

TEST_CASE("recycling: without rules nobody is ever due") {
  Bench bench({});
  CHECK(bench.recycling.begin(1) == 0);
  bench.recycling.worked(1);
  bench.recycling.has_answered(1, 1);
  bench.loop.pass(hours(1000));
  CHECK_FALSE(bench.recycling.looks_at_memory());
  CHECK(bench.choose() == 0);
}

TEST_CASE("recycling: jitter only stretches, and differs from worker to worker") {
  Bench bench({1000, 0, {}, 10});
  std::set<std::uint64_t> limits;
  for (Recycling::Id id = 1; id <= 100; ++id) limits.insert(bench.recycling.begin(id));
  CHECK(limits.size() > 20);
  CHECK(*limits.begin() >= 1000);
  CHECK(*limits.rbegin() <= 1100);
  Bench exact({1000, 0, {}, 0});
  CHECK(exact.recycling.begin(1) == 1000);
}

TEST_CASE("recycling: the one that is due longest is chosen, one at a time") {
  Bench bench({1000, 0, {}, 10});
  for (Recycling::Id id = 1; id <= 3; ++id) bench.recycling.begin(id);
  CHECK(bench.choose() == 0);
  bench.recycling.has_answered(3, 1050);
  bench.recycling.has_answered(1, 1003);
  bench.recycling.has_answered(9, 1);  // nobody
  CHECK(bench.recycling.why(3) == "after 1050 requests");
  CHECK(bench.recycling.why(2).empty());
  CHECK(bench.choose() == 3);
  CHECK(bench.recycling.chosen() == 3);
  bench.recycling.forget(3);
  CHECK(bench.recycling.chosen() == 0);
  CHECK(bench.recycling.choose([](Recycling::Id id) { return id != 1; }) == 0);
  CHECK(bench.choose() == 1);
}

TEST_CASE("recycling: age") {
  Bench bench({0, 0, hours(1), 0});
  bench.recycling.begin(1);
  bench.loop.turn();
  CHECK(bench.recycling.due_looks().empty());
  bench.wakes = 0;
  bench.loop.pass(hours(1) - milliseconds(1));
  CHECK(bench.wakes == 0);  // nothing is done for it meanwhile
  bench.loop.pass(milliseconds(1));
  CHECK(bench.wakes == 1);
  CHECK(bench.recycling.due_looks().empty());
  CHECK(bench.recycling.why(1) == "at an age of 1h");
}

TEST_CASE("recycling: the memory of one that has worked is looked at a moment later, once") {
  Bench bench({0, 300 * conf::mib, {}, 10});
  bench.recycling.begin(1);
  bench.recycling.begin(2);
  bench.loop.turn();
  bench.recycling.due_looks();
  bench.wakes = 0;
  bench.loop.pass(hours(10));
  CHECK(bench.wakes == 0);  // idle ones cost nothing
  bench.recycling.worked(2);
  bench.loop.turn();
  CHECK(bench.recycling.due_looks() == Ids{});
  bench.loop.pass(Recycling::memory_look);
  CHECK(bench.recycling.due_looks() == Ids{2});
  bench.recycling.has_memory(2, 300 * conf::mib);
  CHECK(bench.recycling.why(2).empty());
  CHECK(bench.recycling.due_looks() == Ids{});
  bench.recycling.worked(2);
  bench.recycling.has_memory(2, 312 * conf::mib + 5);
  CHECK(bench.recycling.why(2) == "for 312 MiB of memory of its own, above 300MiB");
}

TEST_CASE("recycling: the first reason stands") {
  Bench bench({10, conf::mib, {}, 0});
  bench.recycling.begin(1);
  bench.recycling.has_answered(1, 10);
  bench.recycling.has_memory(1, 2 * conf::mib);
  CHECK(bench.recycling.why(1) == "after 10 requests");
}
