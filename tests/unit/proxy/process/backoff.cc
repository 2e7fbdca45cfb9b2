#include "proxy/process/backoff.h"

#include <catch2/catch.hpp>

using portico::core::Time;
using portico::process::Backoff;
using namespace std::chrono_literals;

TEST_CASE("back-off: the wait doubles with each early death, from 0.1 s to 10 s") {
  Backoff backoff;
  Time now{};
  const std::vector<std::chrono::milliseconds> waits = {100ms,  200ms,  400ms,   800ms,  1600ms,
                                                        3200ms, 6400ms, 10000ms, 10000ms};
  for (const auto wait : waits) {
    backoff.started(now);
    now += 1ms;
    CHECK(backoff.died(now) == wait);
    now += wait;
  }
  CHECK(backoff.deaths_in_a_row() == waits.size());
}

TEST_CASE("back-off: a hundred deaths do not overflow") {
  Backoff backoff;
  backoff.started(Time{});
  for (int i = 0; i < 100; ++i) backoff.died(Time{});
  CHECK(backoff.died(Time{}) == Backoff::longest);
}

TEST_CASE("back-off: a healthy life makes the next death the first") {
  Backoff backoff;
  backoff.started(Time{});
  backoff.died(Time{});
  backoff.died(Time{});
  backoff.started(Time{} + 1s);
  CHECK(backoff.died(Time{} + 1s + Backoff::healthy) == 100ms);
  CHECK(backoff.deaths_in_a_row() == 1);
}

TEST_CASE("back-off: who has proved itself starts anew, however short its life") {
  Backoff backoff;
  backoff.started(Time{});
  backoff.died(Time{});
  backoff.died(Time{});
  backoff.proved();
  CHECK(backoff.died(Time{}) == 100ms);
}
