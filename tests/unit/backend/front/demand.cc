// The rule of how many workers there should be, with a clock of the test's.
#include "backend/front/demand.h"

#include <catch2/catch.hpp>

using namespace portico;
using backend::Demand;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

namespace {

/// Looks every 20 ms; what is wanted is ready at the next look, unless a test says otherwise.
struct Site {
  explicit Site(unsigned min, unsigned max, unsigned per_worker = 1)
      : threads(per_worker), demand({min, max, per_worker, minutes(10)}) {}

  unsigned look(std::size_t load) {
    demand.look(load, starting ? 0 : demand.wanted() * threads, now);
    return demand.wanted();
  }
  unsigned look_for(core::Duration time, std::size_t load) {
    for (const core::Time end = now + time; now < end; now += milliseconds(20)) look(load);
    return demand.wanted();
  }

  unsigned threads;
  bool starting = false;
  core::Time now{seconds(1000)};
  Demand demand;
};

}  // namespace

TEST_CASE("demand: the first request wants the first worker at once") {
  Site site(0, 4);
  CHECK(site.demand.wanted() == 0);
  CHECK(site.demand.next_leave() == core::Time::max());
  CHECK(site.look(1) == 1);
}

TEST_CASE("demand: another is wanted when requests have waited for a tenth of a second") {
  Site site(1, 3);
  CHECK(site.look_for(milliseconds(100), 2) == 1);
  CHECK(site.look(2) == 2);
  CHECK(site.look_for(seconds(5), 2) == 2);  // each has its worker
  CHECK(site.look_for(milliseconds(120), 3) == 3);
  CHECK(site.look_for(seconds(5), 50) == 3);  // there may be no more
}

TEST_CASE("demand: a burst that is over before that wants nobody") {
  Site site(1, 3);
  for (int i = 0; i < 50; ++i) {
    site.look_for(milliseconds(80), 2);
    site.look_for(milliseconds(20), 1);
  }
  CHECK(site.demand.wanted() == 1);
}

TEST_CASE("demand: while some are starting nobody more is wanted") {
  Site site(0, 4);
  site.look(1);
  site.starting = true;
  CHECK(site.look_for(seconds(3), 4) == 1);
  site.starting = false;
  CHECK(site.look(4) == 2);
  CHECK(site.look(4) == 3);
}

TEST_CASE("demand: threads count") {
  Site site(1, 2, 4);
  CHECK(site.look_for(seconds(1), 4) == 1);
  CHECK(site.look_for(milliseconds(120), 5) == 2);
}

TEST_CASE("demand: one that was not needed for long enough goes, then the next") {
  Site site(0, 4);
  site.look_for(seconds(1), 3);
  REQUIRE(site.demand.wanted() == 3);
  const core::Time last = site.now - milliseconds(20);
  CHECK(site.demand.next_leave() == last + minutes(10));
  site.now = last + minutes(5);
  site.look(1);
  site.look(0);
  site.now = last + minutes(10) - milliseconds(1);
  CHECK(site.look(0) == 3);
  site.now = last + minutes(10);
  CHECK(site.look(0) == 1);
  CHECK(site.demand.next_leave() == last + minutes(15));
  site.now = last + minutes(15);
  CHECK(site.look(0) == 0);
}

TEST_CASE("demand: what runs is needed, however long") {
  Site site(0, 2);
  for (int i = 0; i < 60; ++i) {
    CHECK(site.look(1) == 1);
    site.now += minutes(1);
  }
}

TEST_CASE("demand: what is there already counts as needed just now") {
  Site site(1, 4);
  site.demand.adopt(3, site.now);
  CHECK(site.demand.wanted() == 3);
  CHECK(site.demand.next_leave() == site.now + minutes(10));
  site.demand.adopt(9, site.now);
  CHECK(site.demand.wanted() == 4);
  site.demand.adopt(0, site.now);
  CHECK(site.demand.wanted() == 1);
}
