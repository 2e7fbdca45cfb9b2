// Application: what the supervisor says, sensible or not, before and after its threads are there.
#include "backend/front/application.h"

#include <catch2/catch.hpp>

#include "tests/support/wsgi_bench.h"

using namespace portico;
using namespace portico::tests;
using std::chrono::seconds;
using AppState = backend::Application::State;
using WorkerState = backend::WorkerStatus::State;

namespace {

std::vector<core::Fd> streams(std::size_t count) {
  std::vector<core::Fd> fds;
  for (std::size_t i = 0; i < count; ++i) fds.push_back(std::move(unix_pair().first));
  return fds;
}

struct Bench {
  explicit Bench(unsigned threads = 2) : spool(conf::Spool{}) {
    for (unsigned i = 0; i < threads; ++i)
      loops.push_back(std::make_unique<core::Loop>(core::Loop::Drive::by_hand, i));
    app.emplace(WsgiBench::application(), threads, spool, [](std::string_view) {});
  }
  void attach() {
    for (auto& loop : loops) app->attach(*loop);
    turn();
  }
  void turn() {
    for (auto& loop : loops) loop->turn();
  }
  void hear(std::string_view text, std::vector<core::Fd> fds = {}) {
    app->hear(text, std::move(fds), now);
    turn();
  }
  void open_queue() {
    std::vector<core::Fd> fds;
    fds.push_back(std::move(channels.front_queue));
    fds.push_back(std::move(channels.cells_fd));
    hear("queue generation=1", std::move(fds));
  }
  std::size_t slots() {  // as many sinks as are let in
    Agent owner(*loops[0], [] {});
    std::vector<std::unique_ptr<core::Ticket>> tickets;
    for (;;) {
      tickets.push_back(std::make_unique<core::Ticket>(owner));
      if (!tickets.back()->enter(app->admission()) || !tickets.back()->admitted())
        return tickets.size() - 1;
    }
  }

  FakeChannels channels{64};
  backend::Spool spool;
  std::vector<std::unique_ptr<core::Loop>> loops;
  std::optional<backend::Application> app;
  core::Time now{};
};

}  // namespace

TEST_CASE("application: slots are the ready threads and a window, within the cells of a thread") {
  Bench bench;
  bench.attach();
  bench.open_queue();  // 32 cells a thread
  CHECK(bench.slots() == 0);
  bench.hear("worker worker=1 threads=2 first=0", streams(4));
  CHECK(bench.slots() == 0);
  bench.hear("ready worker=1 pid=100");
  CHECK(bench.slots() == 32);
  bench.hear("leaving worker=1");
  CHECK(bench.slots() == 0);
}

TEST_CASE("application: what is told before its threads are there waits for them, in order") {
  Bench bench;
  bench.open_queue();
  bench.hear("worker worker=1 threads=1 first=0", streams(2));
  bench.hear("ready worker=1 pid=100");
  bench.hear("state state=ready");
  bench.attach();
  RecordingSink sink;
  sink.flight = bench.app->lane(1).submit(sink);
  bench.turn();
  CHECK(sink.flight->state() == backend::Flight::State::sent);
  CHECK(sink.flight->cell() >= 32);  // of the second thread's range
  sink.flight->abandon();
  for (auto& loop : bench.loops) bench.app->detach(*loop);
}

TEST_CASE("application: what is told after its threads have gone is dropped") {
  Bench bench;
  bench.attach();
  bench.app->hear("worker worker=1 threads=1 first=0", streams(2), bench.now);  // posted
  for (auto& loop : bench.loops) bench.app->detach(*loop);
  bench.turn();
  bench.hear("gone worker=1 why=killed");
  bench.turn();
  bench.hear("worker worker=2 threads=1 first=0", streams(2));
  bench.loops.clear();  // with letters in its mail
  SUCCEED("the sanitizers look on");
}

TEST_CASE("application: a worker's streams may come in several messages") {
  WsgiBench bench;
  bench.open_queue();
  FakeWorker worker(*bench.channels[0], 1);
  for (int thread = 0; thread < 3; ++thread) {
    auto [front, back] = unix_pair();
    std::vector<core::Fd> fds;
    fds.push_back(std::move(front));
    worker.ends.push_back(std::move(back));
    bench.hear("worker worker=1 threads=3 first=" + std::to_string(thread), std::move(fds));
  }
  bench.hear("ready worker=1 pid=100");
  RecordingSink sink;
  bench.submit(sink);
  const auto taken = worker.take();
  REQUIRE(worker.claim(*taken, 2));
  worker.send(Frames(*taken).head().end().text(), 2);
  REQUIRE(bench.until([&] { return sink.flight == nullptr; }));
  CHECK(sink.log == "head 200\nend\n");
}

TEST_CASE("application: a worker with the wrong number of streams is not taken in") {
  Bench bench;
  bench.attach();
  bench.open_queue();
  const auto [text, count] = GENERATE(table<std::string, int>({
      {"worker worker=1 threads=2 first=0", 0},
      {"worker worker=1 threads=2 first=0", 1},
      {"worker worker=1 threads=2 first=0", 3},
      {"worker worker=1 threads=2 first=0", 6},
      {"worker worker=1 threads=2 first=1", 4},
      {"worker worker=1 threads=2 first=9223372036854775807", 4},
      {"worker worker=1 threads=300 first=0", 4},
      {"worker worker=1", 4},
      {"worker threads=2", 4},
  }));
  bench.hear(text, streams(static_cast<std::size_t>(count)));
  CHECK(bench.app->workers().empty());
  bench.hear("ready worker=1 pid=5");
  CHECK(bench.slots() == 0);
}

TEST_CASE("application: nonsense and unknown workers change nothing") {
  Bench bench;
  bench.attach();
  const std::string text =
      GENERATE("", "=", "ready", "ready worker=9", "gone worker=9 why=x", "leaving worker=99999",
               "queue generation=1", "state", "state state=odd", "fly", "worker worker=%zz");
  bench.hear(text, streams(1));
  CHECK(bench.app->workers().empty());
  CHECK(bench.app->state() == AppState::starting);
  CHECK(bench.slots() == 0);
}

TEST_CASE("application: a queue whose cells may shrink is refused") {
  Bench bench;
  bench.attach();
  std::vector<core::Fd> fds = streams(1);
  fds.emplace_back(::memfd_create("cells", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  CHECK(::ftruncate(fds[1].get(), 4096) == 0);
  bench.hear("queue generation=1", std::move(fds));
  bench.hear("worker worker=1 threads=1 first=0", streams(2));
  bench.hear("ready worker=1 pid=5");
  CHECK(bench.slots() == 0);
}

TEST_CASE("application: status tells of each worker what it is, since when and why") {
  Bench bench(1);
  bench.attach();
  bench.hear("worker worker=7 threads=1 first=0", streams(1));
  CHECK(bench.app->workers().at(0).state == WorkerState::starting);
  bench.now += seconds(5);
  bench.hear("ready worker=7 pid=0");
  bench.now += seconds(1);
  bench.hear("ready worker=7 pid=4711");  // the zygote was slower than its worker
  const auto ready = bench.app->workers().at(0);
  CHECK(ready.state == WorkerState::ready);
  CHECK(ready.pid == 4711);
  CHECK(ready.since == core::Time{} + seconds(5));
  bench.hear("gone worker=7 why=killed%20by%20signal%209");
  CHECK(bench.app->workers().at(0).why == "killed by signal 9");
}

TEST_CASE("application: of many workers that have gone the latest are remembered") {
  Bench bench(1);
  bench.attach();
  bench.hear("worker worker=1000 threads=1 first=0", streams(1));
  for (int i = 1; i <= 40; ++i) {
    bench.now += seconds(1);
    const std::string name = " worker=" + std::to_string(i);
    bench.hear("worker" + name + " threads=1 first=0", streams(1));
    bench.hear("gone" + name + " why=x");
  }
  const auto workers = bench.app->workers();
  CHECK(workers.size() == 17);
  CHECK(workers.front().worker == 25);
  CHECK(workers.back().worker == 1000);
}

TEST_CASE("application: the time in which it was starting is counted altogether") {
  Bench bench;
  const auto starting = [&] { return bench.app->time_starting(bench.now); };
  bench.now += seconds(10);
  CHECK(starting() == seconds(0));
  bench.hear("state state=starting");
  bench.now += seconds(3);
  CHECK(starting() == seconds(3));
  bench.hear("state state=ready");
  bench.now += seconds(5);
  CHECK(starting() == seconds(3));
  bench.hear("state state=starting");
  bench.now += seconds(2);
  bench.hear("state state=failed cause=exit");
  bench.now += seconds(9);
  CHECK(starting() == seconds(5));
  CHECK(bench.app->state() == AppState::failed);
  CHECK(bench.app->cause() == "running it");
}

TEST_CASE("application: the cause of its failure is a literal for the error page") {
  Bench bench;
  const auto [cause, text] = GENERATE(table<std::string, std::string>({
      {"directory", "looking for its directory"},
      {"interpreter", "starting its Python"},
      {"import", "importing the application"},
      {"exit", "running it"},
      {"%00", "running it"},
  }));
  bench.hear("state state=failed cause=" + cause);
  CHECK(bench.app->cause() == text);
}
