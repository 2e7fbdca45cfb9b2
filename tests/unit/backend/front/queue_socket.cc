// QueueSocket: records leave a lane for the workers, with their bodies, or wait for room.
#include "backend/front/queue_socket.h"

#include <catch2/catch.hpp>

#include "tests/support/pieces.h"
#include "tests/support/wsgi_bench.h"

using namespace portico;
using namespace portico::tests;
using State = backend::Flight::State;
using Drive = core::Loop::Drive;

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

TEST_CASE(
    "queue: where one thread takes all, records share a datagram, bodies and large ones do not") {
  WsgiBench bench(Drive::by_hand);
  FakeWorker& worker = bench.start_worker(3);
  std::vector<RecordingSink> sinks(6);
  sinks[2].body = core::Fd(::memfd_create("body", MFD_CLOEXEC));
  sinks[4].field_bytes = 20'000;
  for (RecordingSink& sink : sinks) sink.flight = bench.lane().submit(sink);
  bench.loop.turn();
  std::size_t begun = 0;
  while (worker.begin()) ++begun;
  CHECK(begun == sinks.size());
  CHECK(worker.datagrams() == 5);
  for (RecordingSink& sink : sinks) sink.flight->abandon();
}

TEST_CASE("queue: where two threads take, every record has a datagram of its own") {
  WsgiBench bench(Drive::by_hand);
  FakeWorker& worker = bench.start_worker(3, 2);
  std::vector<RecordingSink> sinks(4);
  for (RecordingSink& sink : sinks) sink.flight = bench.lane().submit(sink);
  bench.loop.turn();
  while (worker.begin()) {
  }
  CHECK(worker.datagrams() == 4);
  for (RecordingSink& sink : sinks) sink.flight->abandon();
}

TEST_CASE(
    "queue: what a worker has in hand and has not begun goes to one that comes up beside it") {
  WsgiBench bench(Drive::by_hand);
  FakeWorker& busy = bench.start_worker(3);
  std::vector<RecordingSink> sinks(3);
  for (RecordingSink& sink : sinks) sink.flight = bench.lane().submit(sink);
  bench.loop.turn();
  REQUIRE(busy.begin());
  FakeWorker& second = bench.start_worker(4);
  CHECK(second.begin());
  CHECK(second.begin());
  CHECK_FALSE(second.begin());
  CHECK_FALSE(busy.begin());
  CHECK(sinks[0].written == 1);
  CHECK(sinks[2].written == 2);
  for (RecordingSink& sink : sinks) sink.flight->abandon();
}
