// Hangs: when stacks are asked for, and when the kill comes.
#include "backend/host/hangs.h"

#include <catch2/catch.hpp>

#include "tests/support/run_loop.h"

using namespace portico;
using namespace portico::tests;
using backend::Hangs;
using Step = Hangs::Step;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

struct Bench {
  core::Loop loop{core::Loop::Drive::by_hand};
  int wakes = 0;
  Agent owner{loop, [this] { ++wakes; }};
  Hangs hangs{owner};
  bool busy = false;
  std::vector<std::size_t> left_out;

  void pass(core::Duration time) { loop.pass(time); }
  /// "1 stacks, 2 kill": what is due now.
  std::string due() {
    std::string text;
    const auto orders = hangs.due([this](Hangs::Id, const backend::ThreadSet& threads) {
      left_out.push_back(threads.count());
      return busy;
    });
    for (const Hangs::Order& order : orders) {
      if (!text.empty()) text += ", ";
      text += std::to_string(order.id) + (order.step == Step::kill ? " kill" : " stacks");
    }
    return text;
  }
};

}  // namespace

TEST_CASE("hangs: stacks first, the kill a moment later, each once") {
  Bench bench;
  CHECK(bench.hangs.blame(7, 0, seconds(30)));
  CHECK(bench.hangs.hangs(7));
  CHECK(bench.due() == "7 stacks");
  CHECK(bench.due().empty());
  bench.pass(Hangs::stack_time - milliseconds(1));
  CHECK(bench.due().empty());
  bench.pass(milliseconds(1));
  CHECK(bench.due() == "7 kill");
  bench.pass(seconds(60));
  CHECK(bench.due().empty());
}

TEST_CASE("hangs: other threads of the worker may finish, but not for ever") {
  Bench bench;
  bench.busy = true;
  bench.hangs.blame(7, 2, seconds(30));
  CHECK(bench.due() == "7 stacks");
  bench.pass(seconds(29));
  CHECK(bench.due().empty());
  CHECK(bench.left_out.back() == 1);
  SECTION("they have finished") { bench.busy = false; }
  SECTION("they have had their time") { bench.pass(seconds(1)); }
  CHECK(bench.due() == "7 kill");
}

TEST_CASE("hangs: each thread that hangs is shown once, and gives nobody more time") {
  Bench bench;
  bench.busy = true;
  CHECK(bench.hangs.blame(7, 1, seconds(30)));
  CHECK_FALSE(bench.hangs.blame(7, 1, seconds(30)));
  CHECK(bench.due() == "7 stacks");
  bench.pass(seconds(20));
  CHECK(bench.hangs.blame(7, 3, seconds(30)));
  CHECK(bench.due() == "7 stacks");
  bench.pass(seconds(10));
  CHECK(bench.due() == "7 kill");
}

TEST_CASE("hangs: who is ready in time is left alone, who is not is shown and killed") {
  Bench bench;
  const core::Time by = bench.loop.now() + seconds(10);
  bench.hangs.expect(Hangs::zygote, by);
  bench.hangs.expect(4, by);
  bench.hangs.expect(5, by);
  bench.pass(seconds(9));
  CHECK(bench.due().empty());
  bench.hangs.forget(4);
  bench.pass(seconds(1));
  CHECK(bench.due() == "0 stacks, 5 stacks");
  CHECK_FALSE(bench.hangs.hangs(5));
  bench.hangs.forget(5);
  bench.pass(Hangs::stack_time);
  CHECK(bench.due() == "0 kill");
}

TEST_CASE("hangs: its owner is woken for each step") {
  Bench bench;
  bench.hangs.expect(4, bench.loop.now() + seconds(10));
  bench.pass(seconds(0));
  CHECK(bench.wakes == 1);
  bench.due();
  bench.pass(seconds(10));
  CHECK(bench.wakes == 2);
  CHECK(bench.due() == "4 stacks");
  bench.pass(Hangs::stack_time);
  CHECK(bench.wakes == 3);
}
