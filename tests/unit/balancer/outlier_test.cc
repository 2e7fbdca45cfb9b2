// Passive marking: failures in a row, time out, doubling, forgiveness.
#include "balancer/outlier.h"

#include <catch2/catch.hpp>

namespace portico::balancer {
namespace {

using std::chrono::seconds;

constexpr OutlierRule rule{3, seconds(5)};
const Time start = Time() + std::chrono::hours(1);

void fail(Outlier& outlier, Time now, unsigned times) {
  for (unsigned i = 0; i < times; ++i) outlier.failed(now, rule);
}

TEST_CASE("outlier: the third failure in a row takes out, for the interval") {
  Outlier outlier;
  fail(outlier, start, 2);
  CHECK_FALSE(outlier.out(start));
  fail(outlier, start, 1);
  CHECK(outlier.out(start));
  CHECK(outlier.back_at() == start + seconds(5));
  CHECK(outlier.out(start + seconds(5) - milliseconds(1)));
  CHECK_FALSE(outlier.out(start + seconds(5)));
}

TEST_CASE("outlier: a success ends the row") {
  Outlier outlier;
  fail(outlier, start, 2);
  outlier.succeeded(start);
  fail(outlier, start, 2);
  CHECK_FALSE(outlier.out(start));
}

TEST_CASE("outlier: once back, one more failure takes out for twice as long, up to a minute") {
  Outlier outlier;
  fail(outlier, start, 3);
  Time now = start;
  for (const int expected : {10, 20, 40, 60, 60, 60, 60, 60, 60}) {
    now = outlier.back_at();
    fail(outlier, now, 1);
    CHECK(outlier.back_at() == now + seconds(expected));
  }
}

TEST_CASE("outlier: an interval longer than a minute is kept, not cut") {
  Outlier outlier;
  for (int i = 0; i < 3; ++i) outlier.failed(start, {3, seconds(90)});
  CHECK(outlier.back_at() == start + seconds(90));
}

TEST_CASE("outlier: a success after its return resets the doubling") {
  Outlier outlier;
  fail(outlier, start, 3);
  const Time back = outlier.back_at();
  outlier.succeeded(back);
  fail(outlier, back, 3);
  CHECK(outlier.back_at() == back + seconds(5));
}

TEST_CASE("outlier: what still comes in while it is out neither returns it nor prolongs it") {
  Outlier outlier;
  fail(outlier, start, 3);
  outlier.succeeded(start + seconds(1));
  fail(outlier, start + seconds(1), 5);
  CHECK(outlier.back_at() == start + seconds(5));
}

TEST_CASE("outlier: a good probe forgives at once") {
  Outlier outlier;
  fail(outlier, start, 3);
  outlier.forgive();
  CHECK_FALSE(outlier.out(start));
  fail(outlier, start, 2);
  CHECK_FALSE(outlier.out(start));
}

}  // namespace
}  // namespace portico::balancer
