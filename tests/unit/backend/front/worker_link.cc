// WorkerLink: frames in all splits, back-pressure, and workers that lie: their link is closed, they
// are reported, and nobody else notices.
#include "backend/front/worker_link.h"

#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <filesystem>

#include "backend/front/lane.h"
#include "tests/support/pieces.h"
#include "tests/support/wsgi_bench.h"

using namespace portico;
using namespace portico::tests;

namespace {

std::size_t open_descriptors() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd"))
    ++count;
  return count;
}

core::Fd memfd(std::string_view text) {
  core::Fd fd(::memfd_create("file", MFD_CLOEXEC));
  CHECK(::pwrite(fd.get(), text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()));
  return fd;
}

/// A worker with a record begun, and another worker that answers honestly.
struct Court {
  Court() : liar(bench.start_worker(3, 2)), honest(bench.start_worker(4)) {
    accused.method = witness.method = "POST";
    bench.submit(accused);
    taken.emplace(std::move(*liar.begin()));
    bench.submit(witness);
    other.emplace(std::move(*honest.begin()));
  }
  ~Court() {
    if (accused.flight != nullptr) accused.flight->abandon();
    if (witness.flight != nullptr) witness.flight->abandon();
  }

  void check_verdict() {
    REQUIRE(bench.until([&] { return !bench.told.empty(); }));
    CHECK(bench.told == std::vector<std::string>{"liar worker=3"});
    CHECK(liar.closed());
    honest.send(Frames(*other).head().data("fine").end().text());
    REQUIRE(bench.until([&] { return witness.flight == nullptr; }));
    CHECK(witness.log == "head 200\nend\n");
    bench.kill_worker(liar);
    CHECK(accused.log.find("lost 1\n") != std::string::npos);
    CHECK(bench.app->admission().in_use() == 0);
  }

  WsgiBench bench;
  FakeWorker& liar;
  FakeWorker& honest;
  RecordingSink accused;
  RecordingSink witness;
  std::optional<Taken> taken;
  std::optional<Taken> other;
};

}  // namespace

TEST_CASE("worker link: an answer is the same in all two-way splits") {
  WsgiBench bench;
  FakeWorker& worker = bench.start_worker(3);
  const std::size_t size = Frames(0, 1).head(200).data("body").data("!").end().text().size();
  for (std::size_t at = 1; at < size; ++at) {
    RecordingSink sink;
    bench.submit(sink);
    const auto taken = worker.begin();
    REQUIRE(taken);
    const std::string text = Frames(*taken).head(200).data("body").data("!").end().text();
    worker.send(text.substr(0, at));
    bench.settle();
    worker.send(text.substr(at));
    REQUIRE(bench.until([&] { return sink.flight == nullptr; }));
    CHECK(sink.log == "head 200\nend\n");
    CHECK(sink.data == "body!");
  }
}

TEST_CASE("worker link: an answer is the same byte by byte") {
  WsgiBench bench;
  FakeWorker& worker = bench.start_worker(3);
  RecordingSink sink;
  bench.submit(sink);
  const auto taken = worker.begin();
  for (const char byte : Frames(*taken).head(404).data("text").end().text()) {
    worker.send({&byte, 1});
    bench.settle();
  }
  REQUIRE(bench.until([&] { return sink.flight == nullptr; }));
  CHECK(sink.log == "head 404\nend\n");
  CHECK(sink.data == "text");
}

TEST_CASE("worker link: answers that gather come each to its own sink") {
  WsgiBench bench;
  FakeWorker& worker = bench.start_worker(3);
  std::vector<RecordingSink> sinks(5);
  std::string frames;
  for (RecordingSink& sink : sinks) bench.submit(sink);
  for (std::size_t i = 0; i < sinks.size(); ++i)
    frames += Frames(*worker.begin()).head().data(std::to_string(i)).end().text();
  worker.send(frames);
  REQUIRE(bench.until([&] { return sinks.back().flight == nullptr; }));
  for (std::size_t i = 0; i < sinks.size(); ++i) CHECK(sinks[i].data == std::to_string(i));
}

TEST_CASE("worker link: while a sink is full nothing is read, and then everything in order") {
  WsgiBench bench;
  FakeWorker& worker = bench.start_worker(3);
  RecordingSink sink;
  sink.is_full = true;
  bench.submit(sink);
  const auto taken = worker.begin();
  Frames frames(*taken);
  frames.head();
  for (int i = 0; i < 20; ++i) frames.data(std::to_string(i) + " ");
  worker.send(frames.end().text());
  for (int steps = 0; sink.flight != nullptr; ++steps) {
    REQUIRE(steps < 100);
    const int before = sink.pieces;
    bench.settle();
    CHECK(sink.pieces <= before + 1);
    if (sink.flight != nullptr) sink.flight->resume();
  }
  CHECK(sink.data == "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 ");
}

TEST_CASE("worker link: a full sink that leaves lets the worker's next answer through") {
  WsgiBench bench;
  FakeWorker& worker = bench.start_worker(3);
  RecordingSink full;
  RecordingSink next;
  full.is_full = true;
  bench.submit(full);
  bench.submit(next);
  const auto first = worker.begin();
  const auto second = worker.begin();
  worker.send(Frames(*first).head().data("x").data("y").end().text() +
              Frames(*second).head().data("z").end().text());
  REQUIRE(bench.until([&] { return full.log == "head 200\n"; }));
  full.flight->abandon();
  REQUIRE(bench.until([&] { return next.flight == nullptr; }));
  CHECK(next.data == "z");
  CHECK(bench.app->admission().in_use() == 0);
}

TEST_CASE("worker link: a file comes as a range of a regular file") {
  WsgiBench bench;
  FakeWorker& worker = bench.start_worker(3);
  RecordingSink sink;
  bench.submit(sink);
  const auto taken = worker.begin();
  const core::Fd file = memfd("0123456789");
  worker.send(Frames(*taken).head().text());
  worker.send_with(Frames(*taken).file(2, 5).text(), {file.get()});
  worker.send(Frames(*taken).end().text());
  REQUIRE(bench.until([&] { return sink.flight == nullptr; }));
  CHECK(sink.log == "head 200\nfile 2+5\nend\n");
}

TEST_CASE("worker link: the descriptor of an answer that nobody wants is closed") {
  WsgiBench bench;
  FakeWorker& worker = bench.start_worker(3);
  RecordingSink sink;
  bench.submit(sink);
  const auto taken = worker.begin();
  sink.flight->abandon();
  const core::Fd file = memfd("0123456789");
  const std::size_t before = open_descriptors();
  worker.send(Frames(*taken).head().text());
  worker.send_with(Frames(*taken).file(2, 5).text(), {file.get()});
  worker.send(Frames(*taken).end().text());
  REQUIRE(bench.until([&] { return bench.app->admission().in_use() == 0; }));
  CHECK(open_descriptors() == before);
}

TEST_CASE("worker link: a liar is closed and reported, and nobody else notices: garbage") {
  Court court;
  court.liar.send(GENERATE(std::string(64, '\xff'), std::string("HTTP/1.1 200 OK\r\n\r\n")));
  court.check_verdict();
}

TEST_CASE("worker link: a liar is closed: frames out of order") {
  Court court;
  const Taken& taken = *court.taken;
  const std::string lies[] = {
      Frames(taken).data("x").text(),          Frames(taken).end().text(),
      Frames(taken).head().head().text(),      Frames(taken).head(200, 3).data("four").text(),
      Frames(taken).head(200, 3).end().text(), Frames(taken).head(99).text()};
  court.liar.send(lies[GENERATE(range(0u, 6u))]);
  court.check_verdict();
}

TEST_CASE("worker link: a liar is closed: a cell or serial that is not its own") {
  Court court;
  const record::Record& own = court.taken->record;
  const record::Record& others = court.other->record;
  const std::pair<std::uint32_t, std::uint32_t> lies[] = {{own.cell, own.serial + 1},
                                                          {own.cell, own.serial - 1},
                                                          {own.cell + 7, 1},
                                                          {0xffffffff, own.serial},
                                                          {others.cell, others.serial}};
  const auto [cell, serial] = lies[GENERATE(range(0u, 5u))];
  court.liar.send(Frames(cell, serial).head().text());
  court.check_verdict();
}

TEST_CASE("worker link: a liar is closed: another thread's claim") {
  Court court;
  court.liar.send(Frames(*court.taken).head().text(), 1);
  REQUIRE(court.bench.until([&] { return court.liar.closed(1); }));
  CHECK(court.bench.told == std::vector<std::string>{"liar worker=3"});
}

TEST_CASE("worker link: a liar is closed: descriptors that nobody asked for") {
  Court court;
  const core::Fd file = memfd("text");
  const std::size_t before = open_descriptors();
  const std::string frame = Frames(*court.taken).head().text();
  const int flood = GENERATE(0, 1, 2);
  if (flood == 0) court.liar.send_with(frame, std::vector<int>(200, file.get()));
  if (flood == 1) {
    court.liar.send_with(frame.substr(0, 1), {file.get()});
    court.liar.send_with(frame.substr(1, 1), {file.get()});
  }
  if (flood == 2) court.liar.send_with(frame + Frames(*court.taken).data("x").text(), {file.get()});
  if (flood == 2) court.liar.send_with(Frames(*court.taken).data("x").text(), {file.get()});
  court.check_verdict();
  CHECK(open_descriptors() <= before);
}

TEST_CASE("worker link: a liar is closed: a file frame without a file, or with what is none") {
  Court court;
  int ends[2];
  REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
  const core::Fd in(ends[0]);
  const core::Fd out(ends[1]);
  const core::Fd folder(::open("/", O_RDONLY | O_CLOEXEC));
  const core::Fd null(::open("/dev/zero", O_RDONLY | O_CLOEXEC));
  court.liar.send(Frames(*court.taken).head().text());
  const int fds[] = {-1, in.get(), folder.get(), null.get()};
  const int fd = fds[GENERATE(0, 1, 2, 3)];
  const std::string frame = Frames(*court.taken).file(0, 5).text();
  fd < 0 ? court.liar.send(frame) : court.liar.send_with(frame, {fd});
  court.check_verdict();
}

TEST_CASE("worker link: a liar is closed: a head without end") {
  Court court;
  record::FrameHeader header{};
  header.length = record::max_head_payload_bytes + 1;
  header.type = static_cast<std::uint8_t>(record::FrameType::head);
  header.cell = court.taken->record.cell;
  header.serial = court.taken->record.serial;
  std::string text(sizeof header, '\0');
  std::memcpy(text.data(), &header, sizeof header);
  court.liar.send(text);
  court.check_verdict();
}

TEST_CASE("worker link: what a dying worker cut off is lost, not taken for whole") {
  WsgiBench bench;
  FakeWorker& worker = bench.start_worker(3);
  RecordingSink sink;
  sink.method = "POST";
  bench.submit(sink);
  const auto taken = worker.begin();
  const std::string text = Frames(*taken).head().data("x").end().text();
  worker.send(text.substr(0, text.size() - 1));
  bench.kill_worker(worker);
  CHECK(sink.log == "head 200\nlost 1\n");
}
