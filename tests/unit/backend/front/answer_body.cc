// AnswerBody: memory, then a file, then full, then drained; the order of bytes; exact budgets.
#include "backend/front/answer_body.h"

#include <catch2/catch.hpp>

#include "tests/support/pieces.h"
#include "tests/support/run_loop.h"
#include "tests/support/sockets.h"

using namespace portico;
using namespace portico::tests;
using backend::AnswerBody;
using backend::Spool;
using core::Flow;

namespace {

constexpr std::uint64_t kib = 1024;

struct Bench final : AnswerBody::Owner {
  explicit Bench(std::uint64_t limit = 8 * kib * kib, std::uint64_t memory = 1 << 24,
                 std::uint64_t quota = 1 << 28) {
    conf::Spool options;
    options.directory = folder.file("");
    options.memory = memory;
    options.quota = quota;
    spool.emplace(options);
    body.emplace(*this, *spool, limit);
  }
  void body_drained() override { ++drained; }
  void body_dropped() override { ++dropped; }

  void add(std::string_view text) {
    put += text;
    body->add(core::Slice::copy(text));
  }
  Flow pull(std::size_t room) {
    http::Pull pull = body->pull(room, reader);
    if (pull.flow == Flow::data) {
      CHECK(core::length(pull.piece) <= room);
      got += text_of(pull.piece);
    }
    return pull.flow;
  }
  void pull_all() {
    while (pull(100'000) == Flow::data) {
    }
  }

  core::Loop loop{core::Loop::Drive::by_hand};
  Agent reader{loop, [] {}};
  ScratchDirectory folder;
  std::optional<Spool> spool;
  int drained = 0;
  int dropped = 0;
  std::string put;
  std::string got;
  std::optional<AnswerBody> body;
};

}  // namespace

TEST_CASE("answer body: bytes come out in the order in which they came in, whatever the turns") {
  unsigned seed = GENERATE(range(1u, 12u));
  Bench bench(2 * kib * kib);
  const auto random = [&seed](unsigned below) {
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % below;
  };
  for (int step = 0; step < 400; ++step) {
    if (random(3) != 0 && !bench.body->full()) bench.add(pattern(1 + random(60'000), seed));
    if (random(2) != 0) bench.pull(1 + random(70'000));
    CHECK(bench.spool->memory_bytes() <= 256 * kib);
  }
  bench.body->finish();
  bench.pull_all();
  CHECK((bench.got == bench.put));
  CHECK(bench.pull(1) == Flow::end);
  CHECK(bench.spool->memory_bytes() == 0);
  CHECK(bench.spool->file_bytes() == 0);
}

TEST_CASE("answer body: 256 KiB lie in memory, the rest in a file") {
  Bench bench;
  for (int i = 0; i < 16; ++i) bench.add(pattern(16 * kib, static_cast<unsigned>(i + 1)));
  CHECK(bench.spool->memory_bytes() == 256 * kib);
  CHECK(bench.spool->file_bytes() == 0);
  bench.add("more");
  CHECK(bench.spool->memory_bytes() == 256 * kib);
  CHECK(bench.spool->file_bytes() == 4);
  CHECK_FALSE(bench.body->full());
}

TEST_CASE("answer body: at its limit it is full; half empty it says so once") {
  Bench bench(1 * kib * kib);
  while (!bench.body->full()) bench.add(pattern(50'000));
  CHECK(bench.put.size() >= kib * kib);
  CHECK(bench.put.size() < kib * kib + 50'000);
  while (bench.drained == 0) REQUIRE(bench.pull(10'000) == Flow::data);
  CHECK_FALSE(bench.body->full());
  CHECK(bench.put.size() - bench.got.size() <= kib * kib / 2);
  bench.pull_all();
  CHECK(bench.drained == 1);
  CHECK((bench.got == bench.put));
}

TEST_CASE("answer body: a file that has grown to the limit must run empty first") {
  Bench bench(1 * kib * kib);
  std::size_t most = 0;
  for (int i = 0; i < 300; ++i) {  // the reader always lags behind by half
    while (!bench.body->full() && bench.put.size() < bench.got.size() + 600 * kib)
      bench.add(pattern(50'000));
    bench.pull(50'000);
    most = std::max<std::size_t>(most, bench.spool->file_bytes());
  }
  CHECK(most <= 1 * kib * kib + 50'000);
  bench.pull_all();
  CHECK((bench.got == bench.put));
}

TEST_CASE("answer body: where the spool has no room it is full, and goes on as it is pulled") {
  Bench bench(8 * kib * kib, 100 * kib, 10 * kib);
  for (int i = 0; i < 200; ++i) {
    while (!bench.body->full()) bench.add(pattern(30 * kib, static_cast<unsigned>(i + 1)));
    CHECK(bench.spool->memory_bytes() <= 100 * kib);
    CHECK(bench.put.size() - bench.got.size() <= 150 * kib);  // one read beyond the budgets
    bench.pull(20'000);
  }
  bench.body->finish();
  bench.pull_all();
  CHECK((bench.got == bench.put));
  CHECK(bench.spool->memory_bytes() == 0);
}

TEST_CASE("answer body: others' use of the budget stops it, but never for ever") {
  Bench bench(8 * kib * kib, 1000, 0);
  REQUIRE(bench.spool->take_memory(1000));
  bench.add("one");
  CHECK(bench.body->full());
  CHECK(bench.spool->memory_bytes() == 1000);
  CHECK(bench.pull(2) == Flow::data);
  CHECK(bench.pull(2) == Flow::data);
  CHECK_FALSE(bench.body->full());
  CHECK(bench.drained == 1);
  CHECK(bench.spool->memory_bytes() == 1000);  // what was never taken is not given
}

TEST_CASE("answer body: the smallest limits do not stop it for ever") {
  const std::uint64_t limit = GENERATE(0u, 1u);
  Bench bench(limit);
  for (int i = 0; i < 3; ++i) {
    bench.add("x");
    CHECK(bench.body->full());
    CHECK(bench.pull(10) == Flow::data);
    CHECK_FALSE(bench.body->full());
  }
  CHECK(bench.drained == 3);
}

TEST_CASE("answer body: ranges of the application's own file cost no budget and keep their place") {
  Bench bench(1000, 1000, 1000);
  bench.add("before ");
  const std::string large = pattern(100'000);
  bench.body->add(std::get<core::FileRange>(range_of(large)));
  bench.add(" after");
  bench.body->finish();
  CHECK_FALSE(bench.body->full());
  bench.pull_all();
  CHECK((bench.got == "before " + large + " after"));
}

TEST_CASE("answer body: its reader waits and is woken by bytes, end and fault") {
  Bench bench;
  CHECK(bench.pull(10) == Flow::wait);
  bench.add("x");
  bench.loop.turn();
  CHECK(bench.reader.runs == 1);
  CHECK(bench.pull(10) == Flow::data);
  CHECK(bench.pull(10) == Flow::wait);
  const bool well = GENERATE(true, false);
  well ? bench.body->finish() : bench.body->fail({core::Fault::worker_died, 0, "answering"});
  bench.body->finish();  // too late to change anything
  bench.loop.turn();
  CHECK(bench.reader.runs == 2);
  const http::Pull last = bench.body->pull(10, bench.reader);
  CHECK(last.flow == (well ? Flow::end : Flow::fail));
  CHECK(last.error.fault == (well ? core::Fault::none : core::Fault::worker_died));
}

TEST_CASE("answer body: what had come before a fault is handed out first") {
  Bench bench;
  bench.add("some");
  bench.body->fail({core::Fault::worker_died, 0, "answering"});
  CHECK(bench.pull(10) == Flow::data);
  CHECK(bench.pull(10) == Flow::fail);
}

TEST_CASE("answer body: its owner hears of its end, unless it has left before") {
  Bench bench;
  bench.add(pattern(300'000));
  const bool left = GENERATE(false, true);
  if (left) bench.body->disown();
  bench.body.reset();
  CHECK(bench.dropped == (left ? 0 : 1));
  CHECK(bench.spool->memory_bytes() == 0);
  CHECK(bench.spool->file_bytes() == 0);
}
