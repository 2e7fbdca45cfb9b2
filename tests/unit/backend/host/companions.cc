// Companions with real processes: started once, restarted with back-off, told to end, killed.
#include "backend/host/companions.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <functional>
#include <optional>

#include "tests/support/run_loop.h"
#include "tests/support/sockets.h"

using namespace portico;
using namespace portico::tests;
using process::CompanionReport;
using State = CompanionReport::State;
using std::chrono::seconds;

namespace {

class Bench {
 public:
  explicit Bench(std::vector<std::string> command) {
    application.name = application.site = "a.example";
    application.directory = folder.file("");
    application.python = "/usr/bin/python3";
    application.companions = {{"queue", std::move(command), {}}};
    companions.emplace(owner, application, options, log);
  }
  ~Bench() {
    companions.reset();
    while (::waitpid(-1, nullptr, 0) > 0) {
    }
  }

  CompanionReport report() const { return companions->report().front(); }
  bool until(const std::function<bool()>& holds) {
    Agent* self = nullptr;
    Agent look(loop, [&] {
      int status = 0;
      for (pid_t pid; (pid = ::waitpid(-1, &status, WNOHANG)) > 0;)
        companions->child_ended(pid, status, kills);
      companions->check();
      holds() ? loop.stop() : self->wake();
    });
    self = &look;
    look.wake();
    return run_loop(loop, seconds(30));
  }
  std::string written() const {
    return std::string(recent->from(recent->begin(), std::string::npos));
  }

  core::Loop loop;
  ScratchDirectory folder;
  conf::Application application;
  backend::HostOptions options;
  process::MemoryKills kills;
  std::shared_ptr<process::RecentLines> recent = std::make_shared<process::RecentLines>();
  process::SiteLog log{"a.example", recent};
  Agent owner{loop, [] {}};
  std::optional<backend::Companions> companions;
};

}  // namespace

TEST_CASE("companions: nothing runs before the code is up, and then each once") {
  Bench bench({"sleep", "1000"});
  CHECK(bench.report().state == State::waiting);
  CHECK(bench.companions->stopped());
  bench.companions->begin(bench.application);
  const pid_t pid = bench.report().pid;
  CHECK(bench.report().state == State::running);
  bench.companions->begin(bench.application);
  CHECK(bench.report().pid == pid);
  CHECK_FALSE(bench.report().is_failing);
  CHECK_FALSE(bench.companions->child_ended(pid + 1, 0, bench.kills));
}

TEST_CASE("companions: what ends comes again, each time later, and is a failure meanwhile") {
  Bench bench({"sh", "-c", "echo here; exit 3"});
  const core::Time begin = core::Clock::now();
  bench.companions->begin(bench.application);
  REQUIRE(bench.until([&] { return bench.report().ends == 4; }));
  CHECK(core::Clock::now() - begin >= std::chrono::milliseconds(100 + 200 + 400));
  CHECK(bench.report().last_end == "ended with status 3");
  CHECK(bench.report().is_failing);
  CHECK(bench.written().find("queue: here\n") != std::string::npos);
}

TEST_CASE("companions: what cannot be started is tried again") {
  Bench bench({"./later"});
  bench.companions->begin(bench.application);
  CHECK(bench.report().state == State::waiting);
  CHECK(bench.report().last_end.starts_with("could not be started (./later): "));
  std::ofstream(bench.folder.file("later")) << "#!/bin/sh\nexec sleep 1000\n";
  ::chmod(bench.folder.file("later").c_str(), 0755);
  REQUIRE(bench.until([&] { return bench.report().state == State::running; }));
}

TEST_CASE("companions: new code ends the one that runs, by TERM, and starts another") {
  Bench bench({"sleep", "1000"});
  bench.companions->begin(bench.application);
  const pid_t before = bench.report().pid;
  bench.companions->renew(bench.application);
  CHECK(bench.report().state == State::stopping);
  CHECK(bench.report().pid == before);
  REQUIRE(bench.until([&] { return bench.report().state == State::running; }));
  CHECK(bench.report().pid != before);
  CHECK(bench.report().ends == 0);  // it was told to
}

TEST_CASE("companions: a stop tells them, and kills at the deadline who does not hear") {
  Bench bench({"sh", "-c", "trap '' TERM; echo deaf; while :; do sleep 1000; done"});
  bench.companions->begin(bench.application);
  REQUIRE(bench.until([&] { return bench.written().find("deaf") != std::string::npos; }));
  const pid_t pid = bench.report().pid;
  bench.companions->stop(bench.loop.now() + seconds(20));
  CHECK_FALSE(bench.companions->stopped());
  bench.companions->stop(bench.loop.now());  // a second signal: at once
  REQUIRE(bench.until([&] { return bench.companions->stopped(); }));
  CHECK(::kill(pid, 0) != 0);
  bench.companions->begin(bench.application);
  bench.companions->renew(bench.application);
  CHECK(bench.companions->stopped());
}

TEST_CASE("companions: a stop while one waits for its next try is done at once") {
  Bench bench({"false"});
  bench.companions->begin(bench.application);
  REQUIRE(bench.until([&] { return bench.report().ends == 2; }));
  bench.companions->stop(bench.loop.now() + seconds(20));
  CHECK(bench.companions->stopped());
  CHECK(bench.report().state == State::waiting);
}
