// RequestBody: memory, memfd or disk by size; budgets; whole whatever the pieces.
#include "backend/front/request_body.h"

#include <catch2/catch.hpp>

#include "backend/record/record.h"
#include "tests/support/pieces.h"
#include "tests/support/run_loop.h"
#include "tests/support/sockets.h"

using namespace portico;
using namespace portico::tests;
using backend::RequestBody;
using backend::Spool;
using core::Flow;
using Place = backend::SpoolFile::Place;

namespace {

constexpr std::size_t kib = 1024;

struct Bench {
  explicit Bench(std::uint64_t memory = 1 << 20, std::uint64_t quota = 1 << 24) {
    conf::Spool options;
    options.directory = folder.file("");
    options.memory = memory;
    options.quota = quota;
    options.threshold = 128 * kib;
    spool.emplace(options);
    body.emplace(*spool);
  }

  Flow collect() { return body->collect(source, reader); }
  std::string content() const {
    if (body->in_memory()) return std::string(body->bytes());
    const auto fd = body->file().read_only();
    return read_file(fd->get(), 0, body->size());
  }

  core::Loop loop{core::Loop::Drive::by_hand};
  Agent reader{loop, [] {}};
  ScratchDirectory folder;
  std::optional<Spool> spool;
  std::optional<RequestBody> body;
  ScriptedBody source;
};

core::Piece piece_of(int kind, std::string_view text) {
  if (kind == 0) return slice_of(text);
  return kind == 1 ? pipe_of(text) : range_of(text);
}

}  // namespace

TEST_CASE(
    "request body: 64 KiB travel in the record, up to the threshold in memory, more on the disk") {
  const std::size_t size =
      GENERATE(0ul, 1ul, 64 * kib - 1, 64 * kib, 64 * kib + 1, 128 * kib, 128 * kib + 1, 300 * kib);
  const std::size_t step = GENERATE(1000ul, 16 * kib, 60 * kib);
  Bench bench;
  const std::string text = pattern(size);
  for (std::size_t at = 0; at < size; at += step)
    bench.source.add(slice_of(std::string_view(text).substr(at, step)));
  bench.source.finish(Flow::end);
  Flow flow = Flow::wait;
  while (flow == Flow::wait) flow = bench.collect();
  REQUIRE(flow == Flow::end);
  CHECK(bench.body->size() == size);
  CHECK(bench.content() == text);
  CHECK(bench.body->in_memory() == (size <= record::max_inline_body_bytes));
  if (!bench.body->in_memory())
    CHECK(bench.body->file().place() == (size <= 128 * kib ? Place::memory : Place::disk));
  bench.body.reset();
  CHECK(bench.spool->memory_bytes() == 0);
  CHECK(bench.spool->file_bytes() == 0);
}

TEST_CASE("request body: pieces of any kind in any order come together") {
  unsigned seed = GENERATE(range(1u, 20u));
  Bench bench;
  std::string whole;
  for (int i = 0; i < 12; ++i) {
    seed = seed * 1664525u + 1013904223u;
    const std::string text = pattern(1 + (seed >> 8) % 12'000, seed);
    whole += text;
    bench.source.add(piece_of(static_cast<int>(seed >> 24) % 3, text));
  }
  bench.source.finish(Flow::end);
  CHECK(bench.collect() == Flow::end);
  CHECK(bench.content() == whole);
}

TEST_CASE("request body: a wait ends when there is more") {
  Bench bench;
  bench.source.add(slice_of("first "));
  CHECK(bench.collect() == Flow::wait);
  CHECK(bench.reader.runs == 0);
  bench.source.add(slice_of("second"));
  bench.source.finish(Flow::end);
  bench.loop.turn();
  CHECK(bench.reader.runs == 1);
  CHECK(bench.collect() == Flow::end);
  CHECK(bench.content() == "first second");
}

TEST_CASE("request body: one long body leaves the other exchanges their turn") {
  Bench bench;
  for (int i = 0; i < 100; ++i) bench.source.add(slice_of("piece"));
  bench.source.finish(Flow::end);
  CHECK(bench.collect() == Flow::wait);
  bench.loop.turn();
  CHECK(bench.reader.runs == 1);
  int turns = 1;
  while (bench.collect() == Flow::wait) ++turns;
  CHECK(turns > 3);
  CHECK(bench.body->size() == 500);
}

TEST_CASE("request body: where memory is used up a small one goes to the disk") {
  const std::size_t size = GENERATE(10ul, 20 * kib, 40 * kib);
  const int kind = GENERATE(0, 1, 2);
  Bench bench(8);
  const std::string text = pattern(size);
  bench.source.add(slice_of(std::string_view(text).substr(0, 5)));
  bench.source.add(piece_of(kind, std::string_view(text).substr(5)));
  bench.source.finish(Flow::end);
  CHECK(bench.collect() == Flow::end);
  CHECK(bench.content() == text);
  REQUIRE_FALSE(bench.body->in_memory());
  CHECK(bench.body->file().place() == Place::disk);
  CHECK(bench.spool->memory_bytes() == 0);
  CHECK(bench.spool->file_bytes() == size);
}

TEST_CASE("request body: a memfd that memory cannot hold moves on to the disk") {
  Bench bench(80 * kib);
  const std::string text = pattern(90 * kib);
  bench.source.add(slice_of(std::string_view(text).substr(0, 70 * kib)));
  bench.source.add(slice_of(std::string_view(text).substr(70 * kib)));
  bench.source.finish(Flow::end);
  CHECK(bench.collect() == Flow::end);
  CHECK(bench.content() == text);
  CHECK(bench.spool->memory_bytes() == 0);
}

TEST_CASE("request body: with the quota used up too it fails with spool_full (507)") {
  Bench bench(10, 10);
  bench.source.add(slice_of(pattern(100)));
  CHECK(bench.collect() == Flow::fail);
  CHECK(bench.body->error().fault == core::Fault::spool_full);
  bench.body.reset();
  CHECK(bench.spool->file_bytes() == 0);
}

TEST_CASE("request body: the fault of its source is its own") {
  Bench bench;
  bench.source.add(slice_of("some"));
  bench.source.finish(Flow::fail, {core::Fault::body_too_large, 0, "reading"});
  CHECK(bench.collect() == Flow::fail);
  CHECK(bench.body->error().fault == core::Fault::body_too_large);
}

TEST_CASE("request body: out of the record's way it is the same body behind a descriptor") {
  const std::uint64_t memory = GENERATE(1000u, 5u);
  Bench bench(memory);
  bench.source.add(slice_of("body"));
  bench.source.finish(Flow::end);
  CHECK(bench.collect() == Flow::end);
  CHECK(bench.body->in_memory());
  CHECK(bench.body->leave_memory());
  CHECK_FALSE(bench.body->in_memory());
  CHECK(bench.content() == "body");
}

TEST_CASE("request body: a threshold below 64 KiB rules") {
  Bench bench;
  conf::Spool options = bench.spool->options();
  options.threshold = 10;
  Spool small(options);
  RequestBody body(small);
  bench.source.add(slice_of("0123456789"));
  bench.source.add(slice_of("x"));
  bench.source.finish(Flow::end);
  CHECK(body.collect(bench.source, bench.reader) == Flow::end);
  REQUIRE_FALSE(body.in_memory());
  CHECK(body.file().place() == Place::disk);
}
