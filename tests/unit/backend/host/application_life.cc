// ApplicationService: workers that come and go, sleep, and recycling; with a real Python behind it.
#include <filesystem>

#include "tests/support/service_bench.h"

using namespace portico;
using namespace portico::tests;
using process::ServiceReport;
using std::chrono::minutes;

namespace {

struct LifeBench : Bench {
  explicit LifeBench(unsigned min = 0, const std::string& code = hello) : Bench(code, 3) {
    options.demand = conf::Demand{min, minutes(10)};
  }
  void demand(unsigned workers) { service->hear("demand workers=" + std::to_string(workers), {}); }
  /// So many serve, and nobody else is there.
  bool until_there_are(std::size_t workers) {
    return until([&] {
      const ServiceReport report = service->report();
      if (report.workers.size() != workers) return false;
      for (const process::WorkerReport& one : report.workers)
        if (one.state != process::WorkerReport::State::ready) return false;
      return true;
    });
  }
  bool until_asleep() {
    return until([&] {
      const ServiceReport report = service->report();
      return report.state == ServiceReport::State::sleeping && report.parent == 0 &&
             report.workers.empty();
    });
  }
  void due(unsigned worker) {
    service->hear("due worker=" + std::to_string(worker) + " answers=1000", {});
  }
  std::size_t place_of(std::string_view verb, unsigned worker) const {
    for (std::size_t i = 0; i < front->all.size(); ++i) {
      const record::ControlMessage& message = front->all[i].message;
      if (message.verb == verb && message.number("worker") == worker) return i;
    }
    return front->all.size();
  }
};

struct RecyclingBench : LifeBench {
  explicit RecyclingBench(const std::string& code = hello) : LifeBench(0, code) {
    options.demand.reset();
    options.workers = 2;
    options.recycle.requests = 1000;
  }
};

}  // namespace

TEST_CASE("life: an application that nobody asked for has no process") {
  LifeBench bench;
  bench.start();
  REQUIRE(bench.until([&] { return bench.front->last_state() == "sleeping"; }));
  CHECK(bench.front->count("queue") == 0);
  CHECK(bench.front->last("target").number("workers") == 0u);
  CHECK(bench.service->report().least == 0);
}

TEST_CASE("life: a request starts it, and without any it sleeps again") {
  LifeBench bench;
  bench.start();
  bench.demand(1);
  REQUIRE(bench.until_ready());
  REQUIRE(bench.until_there_are(1));
  CHECK(bench.front->count("state", "starting") >= 1);
  bench.demand(0);
  REQUIRE(bench.until_asleep());
  CHECK(bench.place_of("leaving", 1) < bench.place_of("gone", 1));
  CHECK(bench.service->report().troubles.empty());
  bench.demand(1);
  REQUIRE(bench.until_ready(2));
  CHECK(bench.front->count("queue") == 2);
}

TEST_CASE(
    "life: a request that comes while the last worker leaves gets another one of its zygote") {
  LifeBench bench(0,
                  "import atexit, time\natexit.register(time.sleep, 0.5)\n" + std::string(hello));
  bench.start();
  bench.demand(1);
  REQUIRE(bench.until_ready());
  bench.demand(0);
  REQUIRE(bench.until([&] { return bench.front->count("leaving") == 1; }));
  bench.demand(1);
  REQUIRE(bench.until_ready(2));
  CHECK(bench.front->count("queue") == 1);
  REQUIRE(bench.until_there_are(1));
}

TEST_CASE("life: a request that comes while the zygote leaves does not wait for its end") {
  LifeBench bench(0, "import atexit, time\natexit.register(time.sleep, 2)\n" + std::string(hello));
  bench.start();
  bench.demand(1);
  REQUIRE(bench.until_ready());
  bench.demand(0);
  REQUIRE(bench.until([&] { return bench.service->report().parent == 0; }));
  const core::Time begin = core::Clock::now();
  bench.demand(1);
  REQUIRE(bench.until_ready(2));
  CHECK(core::Clock::now() - begin < milliseconds(1900));
}

TEST_CASE("life: as many as are wanted, within bounds") {
  LifeBench bench(1);
  bench.start();
  REQUIRE(bench.until_there_are(1));
  bench.demand(99);
  REQUIRE(bench.until_there_are(3));
  bench.demand(2);
  REQUIRE(bench.until_there_are(2));
  bench.demand(0);
  REQUIRE(bench.until_there_are(1));
  CHECK(bench.front->last_state() == "ready");
  CHECK(bench.place_of("gone", 1) == bench.front->all.size());  // the young go first
}

TEST_CASE("life: where the number is fixed demand changes nothing") {
  RecyclingBench bench;
  bench.start();
  REQUIRE(bench.until_there_are(2));
  bench.demand(0);
  int turns = 0;
  REQUIRE(bench.until([&] { return ++turns > 50; }));
  CHECK(bench.front->count("leaving") == 0);
  CHECK(bench.front->count("target") == 0);
}

TEST_CASE("life: a start that fails is told at once, and not repeated while nobody asks") {
  LifeBench bench(0, "open('tries', 'a').write('x')\nraise ValueError('not today')\n");
  bench.start();
  bench.demand(1);
  REQUIRE(bench.until([&] { return bench.front->last_state() == "failed"; }));
  CHECK(bench.front->last("target").number("workers") == 0u);
  REQUIRE(bench.until([&] { return bench.front->last_state() == "sleeping"; }));
  const auto tries = [&] { return std::filesystem::file_size(bench.folder.file("tries")); };
  CHECK(tries() == 1);
  bench.rewrite(hello);
  bench.demand(1);
  REQUIRE(bench.until_ready());
}

TEST_CASE("life: requests that come after a failed start bring the next one no sooner") {
  LifeBench bench(0, "raise ValueError('not today')\n");
  bench.start();
  const core::Time begin = core::Clock::now();
  for (std::size_t failures = 1; failures <= 4; ++failures) {  // then 0.1, 0.2 and 0.4 s
    REQUIRE(bench.until([&] { return bench.front->last_state() == "sleeping"; }));
    bench.demand(1);
    REQUIRE(bench.until([&] { return bench.front->count("state", "failed") == failures; }));
  }
  CHECK(core::Clock::now() - begin >= milliseconds(700));
}

TEST_CASE("life: a zygote that is killed while it starts for a request is a failed start") {
  LifeBench bench(0, "import os\nos.kill(os.getpid(), 9)\n");
  bench.start();
  bench.demand(1);
  REQUIRE(bench.until([&] { return bench.front->last_state() == "failed"; }));
  CHECK(bench.front->last("state").text("cause") == "exit");
  REQUIRE(bench.until([&] { return bench.front->last_state() == "sleeping"; }));
}

TEST_CASE("life: a stop in the middle of a start ends it") {
  LifeBench bench(0, "import threading\nthreading.Event().wait()\n");
  bench.start();
  bench.demand(1);
  REQUIRE(bench.until([&] { return bench.service->report().parent != 0; }));
  bench.service->stop(bench.loop.now() + milliseconds(100));
  REQUIRE(bench.until([&] { return bench.service->stopped(); }));
}

TEST_CASE("life: a deploy of one that sleeps tries the new code, and lets it sleep") {
  LifeBench bench;
  bench.start();
  REQUIRE(bench.until([&] { return bench.front->last_state() == "sleeping"; }));
  bench.service->deploy(nullptr);
  const std::string number = std::to_string(*bench.front->last("queue").number("generation"));
  REQUIRE(bench.until([&] { return bench.front->count("warm") == 1; }));
  CHECK(bench.front->last_state() == "sleeping");
  bench.service->hear("warmed generation=" + number + " status=200 why=", {});
  REQUIRE(bench.until([&] { return bench.front->count("switch") == 1; }));
  REQUIRE(bench.until_asleep());
}

TEST_CASE("life: another front is told how many there are") {
  LifeBench bench;
  bench.start();
  bench.demand(2);
  REQUIRE(bench.until_there_are(2));
  bench.service->front_down();
  bench.start();
  CHECK(bench.front->last("target").number("workers") == 2u);
  REQUIRE(bench.until_there_are(2));
}

TEST_CASE("life: a worker that is due serves until its successor is ready") {
  RecyclingBench bench;
  bench.start();
  REQUIRE(bench.until_there_are(2));
  const std::uint64_t most = *bench.front->last("worker").number("most");
  CHECK((most >= 1000 && most <= 1100));
  bench.due(1);
  bench.due(2);
  REQUIRE(bench.until([&] { return bench.front->count("gone") == 2; }));
  REQUIRE(bench.until_there_are(2));
  CHECK(bench.front->count("worker") == 4);
  CHECK(bench.place_of("ready", 3) < bench.place_of("leaving", 1));
  CHECK(bench.place_of("gone", 1) < bench.place_of("worker", 4));  // one at a time
  CHECK(bench.place_of("ready", 4) < bench.place_of("leaving", 2));
  CHECK(bench.front->last_state() == "ready");
  CHECK(bench.service->report().recycled == 2);
  CHECK(bench.recent->from(0, 65536).find("worker 1 is recycled after 1000 requests") !=
        std::string::npos);
}

TEST_CASE("life: one that is due and dies by itself is replaced as any other") {
  RecyclingBench bench;
  bench.start();
  REQUIRE(bench.until_there_are(2));
  const pid_t pid = bench.worker_pid();
  const auto last = static_cast<unsigned>(*bench.front->last("ready").number("worker"));
  bench.service->hear("answered worker=" + std::to_string(last), {});
  bench.due(last);
  ::kill(pid, SIGKILL);
  REQUIRE(bench.until([&] { return bench.front->count("gone") == 1; }));
  REQUIRE(bench.until_there_are(2));
  CHECK(bench.front->count("worker") == 3);
}

TEST_CASE("life: a successor that never comes up leaves the one that is due at its work") {
  RecyclingBench bench(
      "import os\nhere = os.getpid()\nforks = []\n"
      "os.register_at_fork(before=lambda: forks.append(1), after_in_child=lambda: "
      "len(forks) > 2 and os._exit(1))\n" +
      std::string(hello));
  bench.start();
  REQUIRE(bench.until_there_are(2));
  bench.due(1);
  REQUIRE(bench.until([&] { return bench.front->count("gone") >= 3; }));
  CHECK(bench.front->count("leaving") == 0);
  CHECK(bench.front->last_state() == "ready");
}

TEST_CASE("life: memory is watched where it is a reason") {
  RecyclingBench bench;
  const bool is_reason = GENERATE(false, true);
  if (is_reason) bench.options.recycle.memory = conf::mib;
  bench.start();
  REQUIRE(bench.until_there_are(2));
  CHECK(bench.front->count("watch") == (is_reason ? 2 : 0));
}
