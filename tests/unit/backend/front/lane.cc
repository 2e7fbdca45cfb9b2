// Lane, Flight and QueueSocket: records are taken back, cancelled, sent again; workers die.
// backend/record/README.md, "Claim cells", rules 1 to 7.
#include "backend/front/lane.h"

#include <catch2/catch.hpp>

#include "tests/support/pieces.h"
#include "tests/support/wsgi_bench.h"

using namespace portico;
using namespace portico::tests;
using State = backend::Flight::State;
using Drive = core::Loop::Drive;
using record::CellState;

TEST_CASE("lane: a request waits while nobody takes, and is sent once a worker is ready") {
  WsgiBench bench(Drive::by_hand);
  RecordingSink sink;
  bench.submit(sink);
  CHECK(sink.flight->state() == State::waiting);
  CHECK(sink.written == 0);
  FakeWorker& worker = bench.start_worker(3);
  CHECK(sink.flight->state() == State::sent);
  const auto taken = worker.take();
  REQUIRE(taken);
  CHECK(taken->record.request_id == "one");
  CHECK_FALSE(sink.flight->claimed());
  CHECK(worker.claim(*taken));
  CHECK(sink.flight->claimed());
  sink.flight->abandon();
}

TEST_CASE("lane: a slot that is had before the queue is known waits for it") {
  WsgiBench bench(Drive::by_hand);
  bench.app->admission().resize(1);  // the main thread is ahead of this one
  RecordingSink sink;
  bench.submit(sink);
  REQUIRE(sink.flight != nullptr);
  CHECK(sink.flight->state() == State::waiting);
  FakeWorker& worker = bench.start_worker(3);
  CHECK(worker.take());
  sink.flight->abandon();
}

TEST_CASE("lane: an answer comes to its sink in order, and frees slot and cell") {
  WsgiBench bench;
  FakeWorker& worker = bench.start_worker(3);
  RecordingSink sink;
  bench.submit(sink);
  const auto taken = worker.begin();
  REQUIRE(taken);
  worker.send(Frames(*taken).head(201).data("one ").data("two").end().text());
  worker.finish(*taken);
  REQUIRE(bench.until([&] { return sink.flight == nullptr; }));
  CHECK(sink.log == "head 201\nend\n");
  CHECK(sink.data == "one two");
  CHECK(bench.app->admission().in_use() == 0);
  CHECK(bench.told == std::vector<std::string>{"answered worker=3"});
}

TEST_CASE("lane: only a worker's first whole answer is told") {
  WsgiBench bench;
  FakeWorker& worker = bench.start_worker(3);
  for (int i = 0; i < 3; ++i) {
    RecordingSink sink;
    bench.submit(sink);
    const auto taken = worker.begin();
    worker.send(Frames(*taken).head().end().text());
    REQUIRE(bench.until([&] { return sink.flight == nullptr; }));
  }
  CHECK(bench.told.size() == 1);
}

TEST_CASE("lane: what nobody has begun is taken back, and can never be claimed (rule 2)") {
  WsgiBench bench(Drive::by_hand);
  FakeWorker& worker = bench.start_worker(3);
  RecordingSink sink;
  bench.submit(sink);
  const auto taken = worker.take();
  REQUIRE(taken);
  CHECK(sink.flight->withdraw());
  CHECK_FALSE(worker.claim(*taken));
  CHECK(bench.app->admission().in_use() == 0);
  CHECK(sink.log.empty());
}

TEST_CASE(
    "lane: what is begun is cancelled, and keeps its slot until its worker is done (rule 5)") {
  WsgiBench bench;
  FakeWorker& worker = bench.start_worker(3);
  RecordingSink sink;
  bench.submit(sink);
  const auto taken = worker.begin();
  CHECK_FALSE(sink.flight->withdraw());
  backend::Flight* flight = sink.flight;
  flight->abandon();
  CHECK(flight->state() == State::orphaned);
  CHECK_FALSE(bench.channels[0]->cells.wanted(taken->record.cell, taken->record.serial));
  CHECK(bench.app->admission().in_use() == 1);
  worker.send(Frames(*taken).head().data("unheard").abort(record::AbortReason::cancelled).text());
  worker.finish(*taken);
  REQUIRE(bench.until([&] { return bench.app->admission().in_use() == 0; }));
  CHECK(sink.log.empty());
  CHECK(flight->state() == State::free);
}

TEST_CASE("lane: an orphan ends with its worker") {
  WsgiBench bench(Drive::by_hand);
  FakeWorker& worker = bench.start_worker(3);
  RecordingSink sink;
  bench.submit(sink);
  REQUIRE(worker.begin());
  sink.flight->abandon();
  bench.kill_worker(worker);
  CHECK(bench.app->admission().in_use() == 0);
}

TEST_CASE("lane: an orphan whose worker goes on and on is reported, once") {
  WsgiBench bench(Drive::by_hand);
  FakeWorker& worker = bench.start_worker(3);
  RecordingSink sink;
  bench.submit(sink);
  const auto taken = worker.begin();
  REQUIRE(taken);
  sink.flight->abandon();
  bench.loop.pass(bench.app->options().timeouts.response - std::chrono::milliseconds(1));
  CHECK(bench.told.empty());
  bench.loop.pass(std::chrono::milliseconds(2));
  REQUIRE(bench.told.size() == 1);
  CHECK(bench.told[0].starts_with("hanging worker=3 thread=0"));
  CHECK(bench.told[0].ends_with(" id=one"));
  bench.loop.pass(std::chrono::hours(1));
  CHECK(bench.told.size() == 1);
  bench.kill_worker(worker);
}

TEST_CASE("lane: an orphan whose worker ends in time is no hang") {
  conf::Application options = WsgiBench::application();
  options.timeouts.response = std::chrono::milliseconds(50);
  WsgiBench bench(Drive::by_events, options);
  FakeWorker& worker = bench.start_worker(3);
  RecordingSink sink;
  bench.submit(sink);
  backend::Flight* flight = sink.flight;
  const auto taken = worker.begin();
  flight->abandon();
  worker.finish(*taken);
  const core::Time later = bench.loop.now() + std::chrono::milliseconds(100);
  REQUIRE(bench.until([&] { return bench.loop.now() > later; }));
  CHECK(bench.told.empty());  // its frames are still to come
  worker.send(Frames(*taken).head().end().text());
  REQUIRE(bench.until([&] { return flight->state() == State::free; }));
}

TEST_CASE("lane: a sink that refuses to write its record gives its slot back") {
  WsgiBench bench(Drive::by_hand);
  bench.start_worker(3);
  RecordingSink sink;
  sink.refuses = true;
  bench.submit(sink);
  CHECK(bench.app->admission().in_use() == 0);
  RecordingSink next;
  bench.submit(next);
  CHECK(next.flight->state() == State::sent);
  next.flight->abandon();
}

TEST_CASE("lane: the queue of an application has an end") {
  conf::Application options = WsgiBench::application();
  options.limits.queue = 1;
  WsgiBench bench(Drive::by_hand, options);
  RecordingSink one;
  RecordingSink two;
  bench.submit(one);
  bench.submit(two);
  CHECK(one.flight != nullptr);
  CHECK(two.flight == nullptr);
  one.flight->abandon();
}

TEST_CASE("lane: a claimed GET is sent again when its worker dies, but never after two deaths") {
  WsgiBench bench(Drive::by_hand);
  bench.start_worker(3);
  bench.start_worker(4);
  RecordingSink sink;
  bench.submit(sink);
  REQUIRE(bench.workers[0]->begin());
  bench.kill_worker(*bench.workers[0]);
  CHECK(sink.log == "again\n");
  REQUIRE(bench.workers[1]->begin());
  bench.kill_worker(*bench.workers[1]);
  CHECK(sink.log == "again\nlost 2\n");
  CHECK(bench.app->admission().in_use() == 0);
}

TEST_CASE("lane: a claimed POST fails with its worker; one that was not begun does not") {
  WsgiBench bench(Drive::by_hand);
  FakeWorker& first = bench.start_worker(3);
  FakeWorker& second = bench.start_worker(4);
  RecordingSink begun;
  RecordingSink unbegun;
  begun.method = unbegun.method = "POST";
  bench.submit(begun);
  REQUIRE(first.begin());
  bench.submit(unbegun);
  const auto stale = first.take();  // it dies between taking and claiming (rule 6)
  bench.kill_worker(first);
  CHECK(begun.log == "lost 1\n");
  CHECK(unbegun.log.empty());
  CHECK_FALSE(second.claim(*stale));
  const auto again = second.take();
  REQUIRE(again);
  CHECK(again->record.serial != stale->record.serial);
  CHECK(second.claim(*again));
  CHECK_FALSE(second.take());
  unbegun.flight->abandon();
}

TEST_CASE("lane: the record that still lies in the queue is stale after another's death") {
  WsgiBench bench(Drive::by_hand);
  FakeWorker& first = bench.start_worker(3);
  FakeWorker& second = bench.start_worker(4);
  RecordingSink sink;
  bench.submit(sink);
  bench.kill_worker(first);
  const auto stale = second.take();
  const auto fresh = second.take();
  REQUIRE(stale);
  REQUIRE(fresh);
  CHECK_FALSE(second.claim(*stale));
  CHECK(second.claim(*fresh));
  sink.flight->abandon();
}

TEST_CASE("lane: another's death leaves what a living worker runs alone") {
  WsgiBench bench;
  FakeWorker& first = bench.start_worker(3);
  FakeWorker& second = bench.start_worker(4);
  RecordingSink sink;
  bench.submit(sink);
  const auto taken = second.begin();
  bench.kill_worker(first);
  CHECK(sink.log.empty());
  second.send(Frames(*taken).head().end().text());
  REQUIRE(bench.until([&] { return sink.flight == nullptr; }));
  CHECK(sink.log == "head 200\nend\n");
}

TEST_CASE("lane: an answer that a dead worker had sent whole is whole (rule 6)") {
  WsgiBench bench(Drive::by_hand);  // nothing is read before the death is known
  FakeWorker& worker = bench.start_worker(3);
  RecordingSink sink;
  sink.is_full = GENERATE(false, true);
  bench.submit(sink);
  const auto taken = worker.begin();
  worker.send(Frames(*taken).head().data(pattern(100'000)).end().text());
  bench.kill_worker(worker);
  CHECK(sink.log == "head 200\nend\n");
  CHECK((sink.data == pattern(100'000)));
}

TEST_CASE("lane: a failed application takes back what nobody has begun, and no more") {
  WsgiBench bench(Drive::by_hand);
  FakeWorker& worker = bench.start_worker(3);
  RecordingSink running;
  RecordingSink sent;
  RecordingSink waiting;
  bench.submit(running);
  REQUIRE(worker.begin());
  bench.submit(sent);
  bench.hear("leaving worker=3");
  bench.submit(waiting);
  CHECK(waiting.flight->state() == State::waiting);
  bench.hear("state state=failed cause=import");
  CHECK(running.log.empty());
  CHECK(sent.log == "unavailable\n");
  CHECK(waiting.log == "unavailable\n");
  CHECK(bench.app->cause() == "importing the application");
  running.flight->abandon();
}

TEST_CASE("lane: cells that a hostile worker scribbles on hurt nobody but it") {
  const auto word = [](std::uint32_t serial, std::uint16_t worker, CellState state) {
    return std::uint64_t{serial} << 32 | std::uint64_t{worker} << 16 | std::uint64_t(state);
  };
  WsgiBench bench(Drive::by_hand);
  FakeWorker& worker = bench.start_worker(3);
  bench.start_worker(4);
  RecordingSink sink;
  sink.method = "POST";
  bench.submit(sink);
  const auto taken = worker.begin();
  const std::uint32_t serial = taken->record.serial;
  const bool orphan = GENERATE(false, true);
  if (orphan) sink.flight->abandon();
  const std::uint64_t scribbles[] = {word(serial, 0, CellState::sent), 0, ~std::uint64_t{0},
                                     word(serial, 999, CellState::claimed),
                                     word(serial + 1, 4, CellState::claimed)};
  const std::uint64_t scribble = scribbles[GENERATE(range(0u, 5u))];
  bench.channels[0]->scribble(taken->record.cell, scribble);
  bench.kill_worker(worker);
  if (sink.flight != nullptr && !orphan) {  // it looked as if it had never begun
    CHECK(sink.flight->state() == State::sent);
    sink.flight->abandon();
  }
  CHECK(bench.app->admission().in_use() == 0);
}

TEST_CASE("lane: a worker that it was not told of yet may have begun a record") {
  WsgiBench bench;
  FakeWorker& dying = bench.start_worker(3);
  RecordingSink sink;
  sink.method = "POST";
  bench.submit(sink);
  const auto taken = dying.begin();
  const std::uint64_t by_worker_4 = std::uint64_t{taken->record.serial} << 32 |
                                    std::uint64_t{4} << 16 | std::uint64_t(CellState::claimed);
  bench.channels[0]->scribble(taken->record.cell, by_worker_4);
  bench.kill_worker(dying);
  REQUIRE(sink.flight != nullptr);
  FakeWorker& next = bench.start_worker(4);
  next.send(Frames(*taken).head().data("x").end().text());
  CHECK(bench.until([&] { return bench.app->admission().in_use() == 0; }));
  CHECK(sink.log.starts_with("head 200\n"));
}

TEST_CASE("lane: what has not left the outbox is taken back, whatever its cell says") {
  WsgiBench bench(Drive::by_hand);
  bench.open_queue(20'000);
  bench.start_worker(3);
  std::vector<RecordingSink> sinks(4);
  for (RecordingSink& sink : sinks) {
    sink.field_bytes = 15'000;
    bench.submit(sink);
  }
  REQUIRE(sinks[3].flight->state() == State::boarding);
  bench.channels[0]->scribble(sinks[3].flight->cell(), ~std::uint64_t{0});
  CHECK(sinks[3].flight->withdraw());
  for (std::size_t i = 0; i < 3; ++i) sinks[i].flight->abandon();
  CHECK(bench.app->admission().in_use() == 0);
}

TEST_CASE("lane: a stopped link is forgotten with its worker, whatever the cell says") {
  WsgiBench bench;
  FakeWorker& liar = bench.start_worker(3);
  bench.start_worker(4);
  RecordingSink sink;
  sink.is_full = true;
  bench.submit(sink);
  const auto taken = liar.begin();
  liar.send(Frames(*taken).head().data("x").text());
  REQUIRE(bench.until([&] { return sink.log == "head 200\n"; }));
  bench.channels[0]->scribble(
      taken->record.cell, std::uint64_t{taken->record.serial} << 32 | std::uint64_t{4} << 16 | 2u);
  bench.kill_worker(liar);
  REQUIRE(sink.flight != nullptr);
  sink.flight->resume();
  sink.flight->abandon();
}
