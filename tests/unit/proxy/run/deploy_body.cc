// DeployBody: services are deployed one after the other, told line by line, and concluded.
#include "proxy/run/deploy_body.h"

#include <catch2/catch.hpp>
#include <memory>

#include "tests/support/run_loop.h"

using namespace portico;
using core::Flow;
using process::Progress;

namespace {

/// A service that the test deploys by hand.
class FakeService final : public process::Service {
 public:
  explicit FakeService(std::string name) : name_(std::move(name)) {}

  std::string_view name() const override { return name_; }
  void start() override {}
  void front_up(process::FrontLink&) override {}
  void front_down() override {}
  void hear(std::string_view, std::vector<core::Fd>) override {}
  bool child_ended(pid_t, int) override { return false; }
  void stop(core::Time) override {}
  bool stopped() const override { return true; }
  bool is_stillborn() const override { return false; }
  void reopen_logs() override {}
  void deploy(std::unique_ptr<Progress> given) override {
    if (refuses) return given->ended(Progress::Outcome::failed, "not now");
    progress = std::move(given);
  }
  process::ServiceReport report() const override { return {}; }
  process::RecentLines& recent_lines() override { return lines_; }

  bool refuses = false;
  std::unique_ptr<Progress> progress;

 private:
  std::string name_;
  process::RecentLines lines_;
};

struct Bench {
  core::Loop loop{core::Loop::Drive::by_hand};
  int woken = 0;
  tests::Agent reader{loop, [this] { ++woken; }};
  FakeService one{"one"};
  FakeService two{"two"};
  std::unique_ptr<run::DeployBody> body =
      std::make_unique<run::DeployBody>(std::vector<process::Service*>{&one, &two});

  /// All that can be pulled now.
  std::string pull() {
    std::string text;
    for (;;) {
      const http::Pull pulled = body->pull(7, reader);
      if (pulled.flow != Flow::data) return text + (pulled.flow == Flow::end ? "." : "");
      text += std::get<core::Slice>(pulled.piece).view();
    }
  }
};

}  // namespace

TEST_CASE("deploy body: one service after the other, and then the outcome") {
  Bench bench;
  CHECK(bench.pull().empty());
  REQUIRE(bench.one.progress);
  bench.one.progress->said("importing\x1b[31m");
  bench.loop.turn();
  CHECK(bench.woken == 1);
  CHECK(bench.pull() == "one: importing [31m\n");
  CHECK_FALSE(bench.two.progress);
  bench.one.progress->ended(Progress::Outcome::done, "");
  CHECK(bench.pull() == "one: the new code serves\n");
  REQUIRE(bench.two.progress);
  bench.two.progress->ended(Progress::Outcome::done, "");
  CHECK(bench.pull() == "two: the new code serves\ndone\n.");
}

TEST_CASE("deploy body: one that fails does not hold up the next, and is the outcome") {
  Bench bench;
  bench.one.refuses = true;
  CHECK(bench.pull() == "one: not now; the old code stays\n");
  bench.two.progress->ended(Progress::Outcome::done, "");
  CHECK(bench.pull() == "two: the new code serves\nfailed\n.");
}

TEST_CASE("deploy body: a service that ends in the middle has failed") {
  Bench bench;
  bench.pull();
  bench.one.progress.reset();
  CHECK(bench.pull() == "one: Portico has ended; the old code stays\n");
}

TEST_CASE("deploy body: who leaves hears nothing more, and nothing more begins") {
  Bench bench;
  bench.pull();
  bench.body.reset();
  bench.one.progress->said("importing");
  bench.one.progress->ended(Progress::Outcome::done, "");
  CHECK_FALSE(bench.two.progress);
}
