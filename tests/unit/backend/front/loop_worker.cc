// LoopWorker with an engine that the test plays: answers at once and in parts, full sinks, clients
// that leave. backend/record/direct.h rules it.
#include "backend/front/loop_worker.h"

#include <catch2/catch.hpp>
#include <deque>

#include "tests/support/pieces.h"
#include "tests/support/wsgi_bench.h"

using namespace portico;
using namespace portico::tests;
using Drive = core::Loop::Drive;
using State = backend::Flight::State;

namespace {

/// What the engine will do; one call at a time.
struct Engine {
  std::deque<std::string> parts;  // frames of begin, then of each resume
  int descriptor = -1;            // comes with the next part
  std::uint32_t cell = 0;
  std::uint32_t serial = 0;
  int begun = 0;
  int resumed = 0;
  std::string present;
  record::Cells* cells = nullptr;

  record::DirectAnswer next() {
    if (parts.empty()) return {};
    present = parts.front();
    parts.pop_front();
    return {present.data(), present.size(), std::exchange(descriptor, -1),
            parts.empty() ? nullptr : this};
  }
};
Engine engine;

record::DirectAnswer begin(const char* bytes, std::size_t size, int body) {
  core::Fd(body).reset();
  record::Record record;
  REQUIRE(record::read_record({bytes, size}, record));
  ++engine.begun;
  REQUIRE(engine.cells->claim(record.cell, record.serial, 1, 0, 1));
  return engine.next();
}

record::DirectAnswer resume(void* rest) {
  CHECK(rest == &engine);
  ++engine.resumed;
  return engine.next();
}

constexpr record::Direct direct{begin, resume};

class Bench : public WsgiBench {
 public:
  Bench() : WsgiBench(Drive::by_hand, in_the_loop()) {
    FakeChannels& queue = open_queue();
    engine = {};
    engine.cells = &queue.cells;
    hear("worker worker=1 threads=0");
    app->serve_in_loop(direct);
    hear("ready worker=1 pid=1");
    hear("state state=ready");
  }
  static conf::Application in_the_loop() {
    conf::Application options = application();
    options.embedded = true;
    options.threads = 0;
    return options;
  }
  /// Frames for the next record: cells are given in order, and each is new.
  Frames frames() const { return {0, serial}; }
  bool wanted() const { return channels[0]->cells.wanted(0, serial); }

  std::uint32_t serial = 1;
};

}  // namespace

TEST_CASE("loop worker: an answer given at once is the sink's in the same turn") {
  Bench bench;
  RecordingSink sink;
  engine.parts = {bench.frames().head(201).data("all ").data("of it").end().text()};
  bench.submit(sink);
  CHECK(sink.log == "head 201\nend\n");
  CHECK(sink.data == "all of it");
  CHECK(engine.resumed == 0);
  CHECK(bench.app->admission().in_use() == 0);
}

TEST_CASE("loop worker: an answer in parts goes on by itself, and is closed after its end") {
  Bench bench;
  RecordingSink sink;
  engine.parts = {bench.frames().head().data("one").text(), bench.frames().data("two").text(),
                  bench.frames().end().text(), ""};
  bench.submit(sink);
  CHECK(sink.log == "head 200\nend\n");
  CHECK(sink.data == "onetwo");
  CHECK(engine.resumed == 3);
}

TEST_CASE("loop worker: a file comes with its descriptor") {
  Bench bench;
  RecordingSink sink;
  engine.descriptor = ::memfd_create("file", MFD_CLOEXEC);
  engine.parts = {bench.frames().head().file(3, 4).end().text()};
  bench.submit(sink);
  CHECK(sink.log == "head 200\nfile 3+4\nend\n");
}

TEST_CASE("loop worker: a full sink stops its answer until it has room, and no other") {
  Bench bench;
  RecordingSink sink;
  sink.is_full = true;
  engine.parts = {bench.frames().head().data("one").text(), bench.frames().data("two").text(),
                  bench.frames().end().text()};
  bench.submit(sink);
  CHECK(engine.resumed == 0);
  sink.is_full = false;
  sink.flight->resume();
  bench.loop.turn();
  CHECK(sink.data == "onetwo");
  CHECK(sink.flight == nullptr);
}

TEST_CASE("loop worker: a sink that leaves has its answer cancelled and ended") {
  Bench bench;
  RecordingSink sink;
  sink.is_full = true;
  engine.parts = {bench.frames().head().data("one").text(),
                  bench.frames().abort(record::AbortReason::cancelled).text(), ""};
  bench.submit(sink);
  backend::Flight* flight = sink.flight;
  flight->abandon();
  CHECK_FALSE(bench.wanted());
  CHECK(bench.app->admission().in_use() == 1);
  bench.loop.turn();
  CHECK(engine.resumed == 2);
  CHECK(bench.app->admission().in_use() == 0);
  CHECK(flight->state() == State::free);
  CHECK(sink.data == "one");
}

TEST_CASE("loop worker: an engine that can do nothing is an abort") {
  Bench bench;
  RecordingSink sink;
  bench.submit(sink);
  CHECK(engine.begun == 1);
  CHECK(sink.log ==
        "abort " + std::to_string(static_cast<int>(record::AbortReason::engine_error)) + "\n");
}

TEST_CASE("loop worker: its end ends the answers that go on, close() included") {
  RecordingSink sink;
  {
    Bench bench;
    sink.is_full = true;
    engine.parts = {bench.frames().head().data("one").text(), "", ""};
    bench.submit(sink);
    CHECK(engine.resumed == 0);
  }
  CHECK(engine.resumed == 2);
}

TEST_CASE("loop worker: requests wait until the engine is there") {
  WsgiBench bench(Drive::by_hand, Bench::in_the_loop());
  FakeChannels& queue = bench.open_queue();
  engine = {};
  engine.cells = &queue.cells;
  bench.hear("worker worker=1 threads=0");
  bench.hear("ready worker=1 pid=1");
  RecordingSink sink;
  bench.submit(sink);
  CHECK(sink.written == 0);
  engine.parts = {Frames(0, 1).head().end().text()};
  bench.app->serve_in_loop(direct);
  bench.loop.turn();
  CHECK(sink.log == "head 200\nend\n");
}
