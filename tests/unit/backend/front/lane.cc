// Lane, Flight and QueueSocket: records are taken back, cancelled, sent again; workers die.
// backend/record/README.md, "Claim cells", rules 1 to 7.
#include "backend/front/lane.h"

#include <algorithm>
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

TEST_CASE("queue: all records arrive through the send buffer of an unprivileged process") {
  WsgiBench bench;
  bench.open_queue(106'496, 200);  // the kernel doubles it: 212,992
  FakeWorker& worker = bench.start_worker(3);
  bench.app->admission().resize(200);
  std::vector<RecordingSink> sinks(200);
  for (std::size_t i = 0; i < sinks.size(); ++i) {
    sinks[i].name = std::to_string(i);
    sinks[i].field_bytes = i % 3 == 0 ? 40'000 : 100;
    sinks[i].flight = bench.lane().submit(sinks[i]);
  }
  bench.loop.turn();
  CHECK(sinks.front().flight->state() == State::sent);
  CHECK(sinks.back().flight->state() == State::boarding);
  std::vector<std::string> order;
  REQUIRE(bench.until([&] {
    while (auto taken = worker.begin()) order.emplace_back(taken->record.request_id);
    return order.size() == sinks.size();
  }));
  for (std::size_t i = 0; i < sinks.size(); ++i) {
    CHECK(order[i] == std::to_string(i));
    CHECK(sinks[i].flight->claimed());
    sinks[i].flight->abandon();
  }
}

TEST_CASE("queue: what waits for room is taken back before it is sent") {
  WsgiBench bench;
  bench.open_queue(20'000);
  FakeWorker& worker = bench.start_worker(3);
  std::vector<RecordingSink> sinks(4);
  for (RecordingSink& sink : sinks) {
    sink.field_bytes = 15'000;
    bench.submit(sink);
  }
  REQUIRE(sinks[3].flight->state() == State::boarding);
  CHECK_FALSE(sinks[3].flight->claimed());
  CHECK(sinks[3].flight->withdraw());
  std::size_t begun = 0;
  REQUIRE(bench.until([&] {
    while (worker.begin()) ++begun;
    return begun == 3;
  }));
  CHECK_FALSE(worker.take());
  for (std::size_t i = 0; i < 3; ++i) sinks[i].flight->abandon();
}

TEST_CASE("queue: a record that the kernel will never take is refused, and those behind it go on") {
  WsgiBench bench;
  bench.open_queue(10'000);
  FakeWorker& worker = bench.start_worker(3);
  RecordingSink small;
  RecordingSink large;  // EMSGSIZE
  RecordingSink last;
  large.field_bytes = 70'000;
  for (RecordingSink* sink : {&small, &large, &last}) sink->flight = bench.lane().submit(*sink);
  bench.loop.turn();
  CHECK(large.log == "unavailable\n");
  CHECK(worker.begin());
  CHECK(worker.begin());
  small.flight->abandon();
  last.flight->abandon();
}

TEST_CASE("queue: when its other end has gone every record is refused, and nothing spins") {
  WsgiBench bench;
  FakeChannels& channels = bench.open_queue();
  bench.start_worker(3);
  channels.worker_queue.reset();
  RecordingSink one;
  RecordingSink two;
  bench.submit(one);
  bench.submit(two);
  CHECK(one.log == "unavailable\n");
  CHECK(two.log == "unavailable\n");
  CHECK(bench.app->admission().in_use() == 0);
}

TEST_CASE("queue: a body travels beside its record as a descriptor") {
  WsgiBench bench(Drive::by_hand);
  FakeWorker& worker = bench.start_worker(3);
  RecordingSink sink;
  sink.body = core::Fd(::memfd_create("body", MFD_CLOEXEC));
  CHECK(::pwrite(sink.body.get(), "body", 4, 0) == 4);
  bench.submit(sink);
  const auto taken = worker.begin();
  REQUIRE(taken);
  CHECK(read_file(taken->body.get(), 0, 4) == "body");
  sink.flight->abandon();
}
