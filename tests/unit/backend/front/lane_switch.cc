// Lane: new code stands by beside the old, is warmed, and takes over.
// backend/record/README.md, "switch".
#include "backend/front/lane.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/support/pieces.h"
#include "tests/support/wsgi_bench.h"

using namespace portico;
using namespace portico::tests;
using State = backend::Flight::State;
using Drive = core::Loop::Drive;

TEST_CASE(
    "lane: a new queue takes what the old one's workers had not begun; the rest they finish") {
  WsgiBench bench(Drive::by_hand);
  FakeWorker& old = bench.start_worker(3);
  RecordingSink get;
  RecordingSink post;
  RecordingSink unbegun;
  post.method = unbegun.method = "POST";
  for (RecordingSink* sink : {&get, &post, &unbegun}) bench.submit(*sink);
  REQUIRE(old.begin());
  const auto running = old.begin();
  REQUIRE(running);
  bench.open_queue();
  CHECK(get.log.empty());
  CHECK(post.log.empty());
  CHECK_FALSE(old.begin());
  CHECK(bench.told.back() == "finished generation=1");
  FakeWorker& fresh = bench.start_worker(5);
  CHECK(fresh.begin());
  CHECK_FALSE(fresh.take());
  bench.kill_worker(old);
  CHECK(get.log == "again\n");
  CHECK(post.log == "lost 1\n");
  CHECK(unbegun.log.empty());
  CHECK(fresh.begin());
  get.flight->abandon();
  unbegun.flight->abandon();
}

TEST_CASE("lane: an old worker's answer comes after the switch, and then its queue is forgotten") {
  WsgiBench bench;
  FakeWorker& old = bench.start_worker(3);
  RecordingSink sink;
  sink.method = "POST";
  bench.submit(sink);
  const auto taken = old.begin();
  REQUIRE(taken);
  bench.stand_by();
  FakeWorker& fresh = bench.start_worker(5);
  bench.hear("switch generation=2");
  old.send(Frames(*taken).head(200).end().text());
  old.finish(*taken);
  REQUIRE(bench.until([&] { return sink.flight == nullptr; }));
  CHECK(sink.log == "head 200\nend\n");
  CHECK(bench.app->admission().in_use() == 0);
  CHECK_FALSE(old.take());
  RecordingSink next;
  bench.submit(next);
  CHECK(fresh.begin());
  next.flight->abandon();
}

TEST_CASE("lane: who stands by gets warm-up requests and nothing else until the switch") {
  WsgiBench bench;
  FakeWorker& old = bench.start_worker(3);
  bench.stand_by();
  FakeWorker& fresh = bench.start_worker(5, 1);
  RecordingSink sink;
  bench.submit(sink);
  CHECK(old.begin());
  CHECK_FALSE(fresh.take());
  bench.hear("warm target=/warm%3Fa");
  const auto warm = fresh.begin();
  REQUIRE(warm);
  CHECK(warm->record.path_info == "/warm");
  CHECK(warm->record.query == "a");
  fresh.send(Frames(*warm).head(302).end().text());
  fresh.finish(*warm);
  REQUIRE(bench.until([&] { return bench.told.size() == 2; }));
  CHECK(bench.told.back() == "warmed generation=2 status=302 why=");
  sink.flight->abandon();
}

TEST_CASE("lane: slots follow the generation in use") {
  WsgiBench bench(Drive::by_hand);
  bench.start_worker(3);
  bench.stand_by();
  bench.hear("gone worker=3 why=killed");
  RecordingSink sink;
  bench.submit(sink);
  CHECK(sink.flight->state() == State::waiting);
  FakeWorker& fresh = bench.start_worker(5);
  CHECK(sink.flight->state() == State::waiting);
  bench.hear("switch generation=2");
  CHECK(sink.flight->state() == State::sent);
  CHECK(fresh.begin());
  sink.flight->abandon();
}

TEST_CASE("lane: a warm-up fails with its worker, and with the code that is dropped") {
  WsgiBench bench(Drive::by_hand);
  FakeWorker& old = bench.start_worker(3);
  bench.stand_by();
  FakeWorker& fresh = bench.start_worker(5);
  bench.hear("warm target=/");
  REQUIRE(fresh.begin());
  SECTION("its worker dies") {
    bench.kill_worker(fresh);
    CHECK(bench.told.back() == "warmed generation=2 status=0 why=its%20worker%20died");
    bench.hear("drop");
  }
  SECTION("it is dropped") {
    bench.hear("drop");
    bench.kill_worker(fresh);
  }
  CHECK(std::count(bench.told.begin(), bench.told.end(), "finished generation=2") == 1);
  CHECK_FALSE(old.take());
}

TEST_CASE("lane: what still waited for room in the old queue goes into the new one") {
  WsgiBench bench(Drive::by_hand);
  bench.open_queue(20'000);
  bench.start_worker(3);
  std::vector<RecordingSink> sinks(4);
  for (RecordingSink& sink : sinks) {
    sink.field_bytes = 15'000;
    bench.submit(sink);
  }
  CHECK(sinks[3].flight->state() == State::boarding);
  bench.open_queue();
  FakeWorker& fresh = bench.start_worker(5);
  int begun = 0;
  while (fresh.begin()) ++begun;
  CHECK(begun == 4);
  for (RecordingSink& sink : sinks) sink.flight->abandon();
}

TEST_CASE("lane: a link that is stopped stays so over a switch, until its worker has gone") {
  WsgiBench bench;
  FakeWorker& worker = bench.start_worker(3);
  RecordingSink sink;
  sink.is_full = true;
  sink.method = GENERATE("GET", "POST");
  bench.submit(sink);
  const auto taken = worker.begin();
  worker.send(Frames(*taken).head().data("x").text());
  REQUIRE(bench.until([&] { return sink.log == "head 200\n"; }));
  bench.open_queue();
  REQUIRE(sink.flight != nullptr);
  sink.flight->resume();
  bench.kill_worker(worker);
  if (sink.flight != nullptr) sink.flight->abandon();
  CHECK(bench.app->admission().in_use() == 0);
}
