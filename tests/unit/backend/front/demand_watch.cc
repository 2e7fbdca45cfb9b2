// DemandWatch: looks while there are requests, tells the supervisor, and rests.
#include "backend/front/demand_watch.h"

#include <catch2/catch.hpp>

#include "backend/front/health_probe.h"
#include "tests/support/wsgi_bench.h"

using namespace portico;
using namespace portico::tests;
using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

namespace {

struct Bench : WsgiBench {
  explicit Bench(unsigned min = 0) : WsgiBench(core::Loop::Drive::by_hand, options_of(min)) {}

  static conf::Application options_of(unsigned min) {
    conf::Application options = application();
    options.workers = 3;
    options.demand = conf::Demand{min, minutes(10)};
    options.health.emplace();
    options.health->path = "/healthz";
    return options;
  }
  /// How many workers were asked for, in order.
  std::string demands() const {
    std::string text;
    for (const std::string& one : told)
      if (one.starts_with("demand workers=")) text += one.substr(15);
    return text;
  }
  void pass(core::Duration time) {
    for (; time > seconds(0); time -= milliseconds(10)) loop.pass(milliseconds(10));
  }
};

}  // namespace

TEST_CASE("demand watch: the first request of one that sleeps asks for a worker, once") {
  Bench bench;
  bench.hear("state state=sleeping");
  CHECK(bench.demands().empty());
  RecordingSink one;
  RecordingSink two;
  bench.submit(one);
  CHECK(bench.demands() == "1");
  bench.submit(two);
  bench.hear("state state=starting");
  bench.pass(seconds(2));
  CHECK(bench.demands() == "1");
  bench.start_worker(1);
  CHECK(bench.demands().substr(0, 2) == "11");  // told again once it is ready
  bench.pass(milliseconds(150));
  CHECK(bench.demands() == "112");
}

TEST_CASE("demand watch: one at rest does nothing, and asks for less once") {
  Bench bench;
  FakeWorker& worker = bench.start_worker(1);
  CHECK(bench.demands() == "0");
  RecordingSink sink;
  bench.submit(sink);
  CHECK(bench.demands() == "01");
  const auto taken = worker.begin();
  REQUIRE(taken);
  bench.pass(seconds(1));
  worker.finish(*taken);
  worker.send(Frames(*taken).head(200, 0).end().text());
  bench.kill_worker(worker);  // by hand nothing else reads its frames
  CHECK(sink.log == "head 200\nend\n");
  bench.pass(minutes(9));
  CHECK(bench.demands() == "01");
  bench.pass(minutes(2));
  CHECK(bench.demands() == "010");
  bench.pass(minutes(20));
  CHECK(bench.demands() == "010");
}

TEST_CASE("demand watch: a health probe neither wakes it nor counts as use") {
  Bench bench;
  backend::HealthProbe probe(bench.loop, *bench.app);
  probe.start();
  bench.hear("state state=sleeping");
  bench.pass(seconds(20));
  CHECK(bench.demands().empty());
  bench.start_worker(1);
  bench.hear("target workers=1");
  bench.pass(seconds(6));
  CHECK(bench.app->admission().load() == 1);  // it asks
  CHECK(bench.app->look_at_load() == 0);
  bench.pass(minutes(11));
  CHECK(bench.demands() == "00");  // when it was ready, and after ten minutes without use
}

TEST_CASE("demand watch: one that has failed is asked for nothing") {
  Bench bench;
  bench.hear("state state=sleeping");
  RecordingSink sink;
  bench.submit(sink);
  bench.app->hear("state state=failed cause=import", {}, bench.loop.now());
  bench.app->hear("target workers=0", {}, bench.loop.now());
  bench.loop.turn();
  CHECK(sink.log == "unavailable\n");
  bench.pass(seconds(5));
  CHECK(bench.demands() == "1");
  bench.hear("state state=sleeping");
  RecordingSink next;
  bench.submit(next);
  CHECK(bench.demands() == "11");
}

TEST_CASE("demand watch: an application that sleeps is well again") {
  Bench bench;
  bench.app->set_healthy(false);
  bench.hear("state state=sleeping");
  CHECK(bench.app->healthy());
  CHECK(bench.app->starts());
}

TEST_CASE("demand watch: a worker's answers are counted up to its limit, and watched") {
  WsgiBench bench;
  bench.open_queue();
  bench.workers.push_back(std::make_unique<FakeWorker>(*bench.channels.back(), 5));
  FakeWorker& worker = *bench.workers.back();
  std::vector<core::Fd> fronts;
  for (int i = 0; i < 1; ++i) {
    auto [front, end] = unix_pair();
    fronts.push_back(std::move(front));
    worker.ends.push_back(std::move(end));
  }
  bench.hear("worker worker=5 generation=1 threads=1 first=0 most=3", std::move(fronts));
  bench.hear("ready worker=5 pid=100");
  bench.hear("state state=ready");
  const auto answer = [&] {
    RecordingSink sink;
    bench.submit(sink);
    std::optional<Taken> taken;
    bench.until([&] { return (taken = worker.begin()).has_value(); });
    worker.finish(*taken);
    worker.send(Frames(*taken).head(200, 0).end().text());
    bench.until([&] { return sink.log.ends_with("end\n"); });
  };
  const auto told = [&](std::string_view text) {
    return std::count(bench.told.begin(), bench.told.end(), text);
  };
  answer();
  CHECK(told("worked worker=5") == 0);
  bench.hear("watch worker=5");
  bench.hear("watch worker=6");  // nobody
  answer();
  CHECK(told("worked worker=5") == 1);
  CHECK(told("due worker=5 answers=3") == 0);
  answer();
  answer();
  CHECK(told("worked worker=5") == 1);
  CHECK(told("due worker=5 answers=3") == 1);
}
