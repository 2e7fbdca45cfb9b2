// Workers, and whose child a process is.
#include "backend/host/workers.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "backend/host/zygote.h"
#include "tests/support/run_loop.h"

using namespace portico;
using backend::Worker;
using backend::Workers;

namespace {

struct Bench {
  Worker& add(std::uint16_t number, std::uint64_t generation) {
    auto ends = net::Channel::pair();
    REQUIRE(ends);
    return workers.add(number, generation, loop.now(),
                       std::make_unique<net::Channel>(owner, std::move(ends->first)));
  }

  core::Loop loop{core::Loop::Drive::by_hand};
  tests::Agent owner{loop, [] {}};
  Workers workers;
};

/// A child that waits until its pipe ends.
class Child {
 public:
  explicit Child(const char* name = nullptr) {
    int ends[2];
    REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      if (name != nullptr) ::prctl(PR_SET_NAME, name);
      ::close(ends[1]);
      char byte;
      ::_exit(static_cast<int>(::read(ends[0], &byte, 1)));
    }
    ::close(ends[0]);
    held_.reset(ends[1]);
  }
  ~Child() {
    held_.reset();
    ::waitpid(pid_, nullptr, 0);
  }
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
  core::Fd held_;
};

}  // namespace

TEST_CASE("workers: numbers go up, skip the living, and are never 0") {
  Bench bench;
  CHECK(bench.workers.next_number() == 1);
  bench.add(2, 1);
  bench.add(3, 1);
  CHECK(bench.workers.next_number() == 4);
  bench.workers.remove(2);
  for (int i = 4; i < 65535; ++i) bench.workers.next_number();
  CHECK(bench.workers.next_number() == 1);
  CHECK(bench.workers.next_number() == 2);
  CHECK(bench.workers.next_number() == 4);
}

TEST_CASE("workers: those serve that are neither leaving nor of another generation") {
  Bench bench;
  bench.add(1, 1).state = Worker::State::ready;
  bench.add(2, 2);
  bench.add(3, 2).state = Worker::State::leaving;
  CHECK(bench.workers.serving(1) == 1);
  CHECK(bench.workers.serving(2) == 1);
  CHECK(bench.workers.any_ready(1));
  CHECK_FALSE(bench.workers.any_ready(2));
}

TEST_CASE("workers: found by number and by process, and told apart while there is none") {
  Bench bench;
  bench.add(1, 1).pid = 4711;
  bench.add(2, 1);
  CHECK(bench.workers.find(1)->pid == 4711);
  CHECK(bench.workers.find(9) == nullptr);
  CHECK(bench.workers.find_pid(4711)->number == 1);
  CHECK(bench.workers.find_pid(4712) == nullptr);
  bench.workers.find(2)->zygote = 4710;
  CHECK(bench.workers.forked_by(4710) == std::vector<std::uint16_t>{2});
}

TEST_CASE("workers: one may be removed while all are walked") {
  Bench bench;
  for (std::uint16_t i = 1; i <= 3; ++i) bench.add(i, 1);
  int seen = 0;
  bench.workers.for_each([&](Worker& worker) {
    ++seen;
    bench.workers.remove(worker.number);
  });
  CHECK(seen == 3);
  CHECK(bench.workers.empty());
}

TEST_CASE("is_child_of: as the kernel says, whatever the process calls itself") {
  const Child plain;
  const Child odd(") R 1 (");
  CHECK(backend::is_child_of(plain.pid(), ::getpid()));
  CHECK(backend::is_child_of(odd.pid(), ::getpid()));
  CHECK_FALSE(backend::is_child_of(plain.pid(), ::getppid()));
  CHECK_FALSE(backend::is_child_of(::getpid(), ::getpid()));
  for (const pid_t none : {0, 1, -1}) CHECK_FALSE(backend::is_child_of(none, ::getpid()));
}

TEST_CASE("is_child_of: a process that is gone is nobody's child") {
  pid_t pid = 0;
  {
    const Child child;
    pid = child.pid();
  }
  CHECK_FALSE(backend::is_child_of(pid, ::getpid()));
}
