#include "proxy/core/loop.h"

#include <fcntl.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <string>
#include <thread>

#include "proxy/core/fd.h"
#include "proxy/core/timer.h"
#include "proxy/core/watch.h"
#include "tests/support/run_loop.h"

namespace portico::core {
namespace {

using tests::Agent;
using tests::run_loop;
using namespace std::chrono_literals;

/// Tells when it dies.
struct Mortal final : Active {
  Mortal(Loop& loop, std::string& diary) : Active(loop), diary_(diary) {}
  ~Mortal() override { diary_ += "died "; }
  void advance() override { diary_ += "advanced "; }
  std::string& diary_;
};

struct Listener final : ReadyListener {
  explicit Listener(std::function<void(int)> on) : act(std::move(on)) {}
  void on_ready(int readiness) noexcept override { act(readiness); }
  std::function<void(int)> act;
};

struct Ends {
  Ends() {
    int fds[2];
    if (::pipe2(fds, O_NONBLOCK | O_CLOEXEC) != 0) std::abort();
    read.reset(fds[0]);
    write.reset(fds[1]);
  }
  Fd read;
  Fd write;
};

}  // namespace

TEST_CASE("loop: wakes while queued are one wake") {
  Loop loop(Loop::Drive::by_hand);
  Agent agent(loop, [] {});
  agent.wake();
  agent.wake();
  loop.turn();
  CHECK(agent.runs == 1);
  loop.turn();
  CHECK(agent.runs == 1);
}

TEST_CASE("loop: a wake from within advance() is queued, never nested") {
  Loop loop(Loop::Drive::by_hand);
  int depth = 0;
  int deepest = 0;
  Agent* other = nullptr;
  Agent first(loop, [&] {
    deepest = std::max(deepest, ++depth);
    if (other->runs < 5) other->wake();
    --depth;
  });
  Agent second(loop, [&] {
    deepest = std::max(deepest, ++depth);
    first.wake();
    --depth;
  });
  other = &second;
  first.wake();
  loop.turn();
  CHECK(second.runs == 5);
  CHECK(first.runs == 6);
  CHECK(deepest == 1);
}

TEST_CASE("loop: who dies in the queue is not run") {
  Loop loop(Loop::Drive::by_hand);
  std::string diary;
  auto mortal = std::make_unique<Mortal>(loop, diary);
  Agent killer(loop, [&] { mortal.reset(); });
  killer.wake();
  mortal->wake();
  loop.turn();
  CHECK(diary == "died ");
}

TEST_CASE("loop: a retired one is never run again, and dies after the turn's work") {
  Loop loop(Loop::Drive::by_hand);
  std::string diary;
  auto mortal = std::make_unique<Mortal>(loop, diary);
  Mortal* raw = mortal.get();
  Wakeup wakeup;
  wakeup.aim(*raw);
  Agent owner(loop, [&] {
    raw->wake();
    loop.retire(std::move(mortal));
    raw->wake();
    wakeup.fire();
    diary += "retired ";
  });
  owner.wake();
  loop.turn();
  CHECK(diary == "retired died ");
}

TEST_CASE("loop: one that is adopted runs once, and belongs to the loop until it is dismissed") {
  std::string diary;
  {
    Loop loop(Loop::Drive::by_hand);
    auto mortal = std::make_unique<Mortal>(loop, diary);
    Mortal& first = *mortal;
    loop.adopt(std::move(mortal));
    loop.turn();
    CHECK(diary == "advanced ");
    loop.dismiss(first);
    CHECK(diary == "advanced ");
    loop.turn();
    CHECK(diary == "advanced died ");
    loop.adopt(std::make_unique<Mortal>(loop, diary));
  }
  CHECK(diary == "advanced died died ");
}

TEST_CASE("wakeup: fires once, and forgets a target that has died") {
  Loop loop(Loop::Drive::by_hand);
  Agent lasting(loop, [] {});
  Wakeup wakeup;
  wakeup.fire();
  wakeup.aim(lasting);
  CHECK(wakeup.aimed());
  wakeup.fire();
  CHECK_FALSE(wakeup.aimed());
  wakeup.fire();
  loop.turn();
  CHECK(lasting.runs == 1);
  {
    Agent brief(loop, [] {});
    wakeup.aim(brief);
  }
  CHECK_FALSE(wakeup.aimed());
  wakeup.fire();
  {
    Wakeup gone;
    gone.aim(lasting);
  }
  loop.turn();
  CHECK(lasting.runs == 1);
}

TEST_CASE("timer: wakes its owner when the deadline has passed, not before") {
  Loop loop(Loop::Drive::by_hand);
  Agent owner(loop, [] {});
  Timer timer(owner);
  timer.set_after(10s);
  CHECK(timer.is_set());
  loop.pass(9999ms);
  CHECK(owner.runs == 0);
  CHECK_FALSE(timer.due());
  loop.pass(1ms);
  CHECK(owner.runs == 1);
  CHECK(timer.due());
  loop.pass(60s);
  CHECK(owner.runs == 1);
}

TEST_CASE("timer: a deadline may move both ways, be cleared, and be set again") {
  Loop loop(Loop::Drive::by_hand);
  Agent owner(loop, [] {});
  Timer timer(owner);
  timer.set_after(10s);
  timer.set_after(20s);
  loop.pass(15s);
  CHECK(owner.runs == 0);
  timer.set_after(1s);
  loop.pass(1s);
  CHECK(owner.runs == 1);
  timer.set_after(5s);
  timer.clear();
  CHECK_FALSE(timer.is_set());
  loop.pass(10s);
  CHECK(owner.runs == 1);
  timer.set_after(1s);
  loop.pass(1s);
  CHECK(owner.runs == 2);
}

TEST_CASE("moment: wakes its owner once it has passed, and not when it was cleared before") {
  Loop loop(Loop::Drive::by_hand);
  Agent owner(loop, [] {});
  Agent other(loop, [] {});
  Moment moment(owner);
  Moment cleared(other);
  CHECK_FALSE(moment.is_set());
  CHECK_FALSE(moment.due());
  moment.set();
  cleared.set();
  CHECK(moment.is_set());
  loop.pass(Loop::moment - 1us);
  CHECK(owner.runs == 0);
  CHECK_FALSE(moment.due());
  cleared.clear();
  loop.pass(1us);
  CHECK(owner.runs == 1);
  CHECK(moment.due());
  CHECK(other.runs == 0);
  CHECK_FALSE(cleared.is_set());
  moment.clear();
  CHECK_FALSE(moment.due());
  moment.set();
  loop.pass(Loop::moment);
  CHECK(owner.runs == 2);
}

TEST_CASE("moment: one that dies is forgotten") {
  Loop loop(Loop::Drive::by_hand);
  Agent owner(loop, [] {});
  {
    Moment moment(owner);
    moment.set();
  }
  loop.pass(Loop::moment);
  CHECK(owner.runs == 0);
}

TEST_CASE("moment: runs by the clock, beside a timer that is due later") {
  Loop loop;
  Moment* running = nullptr;
  Agent owner(loop, [&] {
    if (running->due()) loop.stop();
  });
  Moment moment(owner);
  Timer timer(owner);
  running = &moment;
  timer.set_after(60s);
  moment.set();
  CHECK(run_loop(loop, 10s));
}

TEST_CASE("timer: many fire in the order of their deadlines") {
  Loop loop(Loop::Drive::by_hand);
  std::vector<int> fired;
  struct One {
    One(Loop& loop, std::vector<int>& fired, int at)
        : agent(loop, [&fired, at] { fired.push_back(at); }), timer(agent) {}
    Agent agent;
    Timer timer;
  };
  std::vector<std::unique_ptr<One>> all;
  for (int i = 0; i < 200; ++i) {
    const int at = (i * 37) % 199;
    all.push_back(std::make_unique<One>(loop, fired, at));
    all.back()->timer.set_after(std::chrono::seconds(at));
  }
  for (std::size_t i = 0; i < all.size(); i += 3) all[i].reset();  // from the middle of the heap
  for (int second = 0; second < 200; ++second) loop.pass(1s);
  CHECK(std::is_sorted(fired.begin(), fired.end()));
  CHECK(fired.size() == 133);
}

TEST_CASE("loop: letters from other threads are read in order, by this thread") {
  Loop loop;
  std::vector<int> read;
  struct Letter {
    std::vector<int>& read;
    Loop& loop;
    int number;
    std::thread::id reader;
  };
  std::vector<Letter> letters;
  for (int i = 0; i < 1000; ++i) letters.push_back({read, loop, i, {}});
  std::thread writer([&] {
    for (Letter& letter : letters) {
      loop.post(
          [](void* argument) {
            auto* got = static_cast<Letter*>(argument);
            got->read.push_back(got->number);
            got->reader = std::this_thread::get_id();
            if (got->number == 999) got->loop.stop();
          },
          &letter);
    }
  });
  CHECK(run_loop(loop));
  writer.join();
  CHECK(read.size() == 1000);
  CHECK(std::is_sorted(read.begin(), read.end()));
  CHECK(letters.back().reader == std::this_thread::get_id());
}

TEST_CASE("loop: a letter that was never read is dropped with the loop") {
  int dropped = 0;
  const auto drop = [](void* argument) { ++*static_cast<int*>(argument); };
  {
    Loop loop(Loop::Drive::by_hand);
    loop.post([](void*) { FAIL("read"); }, &dropped, drop);
    loop.post([](void*) { FAIL("read"); }, &dropped);
  }
  CHECK(dropped == 1);
}

TEST_CASE("loop: timers run by the clock") {
  Loop loop;
  Agent owner(loop, [&] { loop.stop(); });
  Timer timer(owner);
  const Time start = Clock::now();
  timer.set_after(20ms);
  REQUIRE(run_loop(loop));
  CHECK(timer.due());
  CHECK(Clock::now() - start >= 20ms);
}

TEST_CASE("watch: tells of readiness while it is wanted, and only then") {
  Loop loop;
  Ends ends;
  int heard = 0;
  Listener listener([&](int readiness) {
    CHECK(readiness == readable);
    ++heard;
    loop.stop();
  });
  Watch watch(loop, listener);
  watch.open(ends.read.get());
  REQUIRE(::write(ends.write.get(), "x", 1) == 1);
  CHECK_FALSE(run_loop(loop, 10ms));
  CHECK(heard == 0);
  watch.want(readable);
  CHECK(watch.wanted() == readable);
  CHECK(run_loop(loop));
  CHECK(run_loop(loop));  // level-triggered: it still lies there
  watch.want(0);
  CHECK_FALSE(run_loop(loop, 10ms));
  CHECK(heard == 2);
}

TEST_CASE("watch: a descriptor's number may be used again at once") {
  Loop loop;
  auto first = std::make_unique<Ends>();
  const int number = first->read.get();
  int heard = 0;
  Listener listener([&](int) {
    ++heard;
    loop.stop();
  });
  Watch watch(loop, listener);
  watch.open(number);
  watch.want(readable);
  CHECK_FALSE(run_loop(loop, 10ms));
  watch.close();
  first.reset();
  Ends second;
  const Fd same(::dup2(second.read.get(), number));
  const Fd original = std::move(second.read);
  watch.open(number);
  watch.want(readable);
  REQUIRE(::write(second.write.get(), "x", 1) == 1);
  CHECK(run_loop(loop));
  CHECK(heard == 1);
  watch.close();
}

TEST_CASE("watch: signals wake their owner, and are counted") {
  Loop loop;
  std::unique_ptr<SignalWatch> watch;
  int taken = 0;
  Agent owner(loop, [&] {
    taken += watch->take();
    loop.stop();
  });
  watch = std::make_unique<SignalWatch>(owner, SIGUSR2);
  ::raise(SIGUSR2);
  REQUIRE(run_loop(loop));
  CHECK(taken == 1);
  CHECK(watch->take() == 0);
  watch.reset();  // before its owner
}

TEST_CASE("loop: by hand, nothing is watched and nothing waits") {
  Loop loop(Loop::Drive::by_hand);
  Ends ends;
  Listener listener([](int) { FAIL("heard"); });
  Watch watch(loop, listener);
  watch.open(ends.read.get());
  watch.want(readable);
  loop.turn();
  watch.close();
}

}  // namespace portico::core
