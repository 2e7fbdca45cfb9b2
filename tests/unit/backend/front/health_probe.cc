// HealthProbe: asks at intervals, judges, and takes several results in a row to change its mind.
#include "backend/front/health_probe.h"

#include <catch2/catch.hpp>

#include "tests/support/wsgi_bench.h"

using namespace portico;
using namespace portico::tests;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

conf::Application watched() {
  conf::Application options = WsgiBench::application();
  options.health.emplace();
  options.health->path = "/healthz";
  options.health->fall = 2;
  options.health->rise = 2;
  options.health->interval = seconds(5);
  options.health->timeout = seconds(2);
  return options;
}

/// Driven by hand; an answer is read when the worker is said to have gone.
struct Bench {
  Bench() { probe.start(); }
  void ask() { wsgi.loop.pass(seconds(5)); }
  void fail_once() {
    ask();
    wsgi.loop.pass(seconds(2));
  }

  WsgiBench wsgi{core::Loop::Drive::by_hand, watched()};
  backend::HealthProbe probe{wsgi.loop, *wsgi.app};
};

}  // namespace

TEST_CASE("health: nothing is asked while no worker is ready") {
  Bench bench;
  bench.ask();
  CHECK(bench.wsgi.app->admission().waiting() == 0);
  FakeWorker& worker = bench.wsgi.start_worker(3);
  bench.ask();
  const auto taken = worker.begin();
  REQUIRE(taken);
  CHECK(taken->record.path_info == "/healthz");
  CHECK(taken->field("host") == "a.example");
}

TEST_CASE("health: silence counts, and only several in a row") {
  Bench bench;
  bench.wsgi.start_worker(3);
  bench.fail_once();
  CHECK(bench.wsgi.app->healthy());
  bench.fail_once();
  CHECK_FALSE(bench.wsgi.app->healthy());
  CHECK(bench.wsgi.app->admission().in_use() == 0);
}

TEST_CASE("health: answers are judged by their status") {
  const auto [status, good] = GENERATE(table<std::uint16_t, bool>(
      {{200, true}, {204, true}, {302, true}, {399, true}, {404, false}, {500, false}}));
  Bench bench;
  for (std::uint16_t round = 0; round < 2; ++round) {
    FakeWorker& worker = bench.wsgi.start_worker(static_cast<std::uint16_t>(3 + round));
    bench.ask();
    const auto taken = worker.begin();
    REQUIRE(taken);
    const std::uint8_t flags = status == 204 ? record::head_no_body : std::uint8_t{0};
    worker.send(Frames(*taken).head(status, {}, flags).end().text());
    bench.wsgi.kill_worker(worker);
  }
  CHECK(bench.wsgi.app->healthy() == good);
}

TEST_CASE("health: a dead worker and an abort count as failures; successes bring it back") {
  Bench bench;
  for (std::uint16_t round = 0; round < 4; ++round) {
    FakeWorker& worker = bench.wsgi.start_worker(static_cast<std::uint16_t>(3 + round));
    bench.ask();
    const auto taken = worker.begin();
    REQUIRE(taken);
    if (round == 1)
      worker.send(Frames(*taken).abort(record::AbortReason::application_error).text());
    if (round > 1) worker.send(Frames(*taken).head().end().text());
    bench.wsgi.kill_worker(worker);
    CHECK(bench.wsgi.app->healthy() == (round == 0 || round == 3));
  }
}

TEST_CASE("health: an application that fails while it is asked is not well") {
  Bench bench;
  bench.wsgi.start_worker(3);
  for (int round = 0; round < 2; ++round) {
    bench.wsgi.hear("state state=ready");
    bench.ask();
    bench.wsgi.hear("state state=failed cause=exit");
  }
  CHECK_FALSE(bench.wsgi.app->healthy());
}

TEST_CASE("health: a probe that ends takes its question back") {
  WsgiBench wsgi(core::Loop::Drive::by_hand, watched());
  FakeWorker& worker = wsgi.start_worker(3);
  {
    backend::HealthProbe probe(wsgi.loop, *wsgi.app);
    probe.start();
    wsgi.loop.pass(seconds(5));
    CHECK(wsgi.app->admission().in_use() == 1);
  }
  CHECK(wsgi.app->admission().in_use() == 0);
  CHECK_FALSE(worker.begin());
}
