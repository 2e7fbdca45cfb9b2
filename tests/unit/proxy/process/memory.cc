#include "proxy/process/memory.h"

#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <string>

using namespace portico::process;

TEST_CASE("memory: what a process has written to counts, by either way") {
  const auto before = memory_of(::getpid());
  REQUIRE(before);
  const std::string written(32 << 20, 'x');
  const auto after = memory_of(::getpid());
  REQUIRE(after);
  CHECK(after->bytes >= before->bytes + written.size() / 2);
}

TEST_CASE("memory: a process owns what it has written to, and not what it shares") {
  const auto before = own_memory_of(::getpid());
  REQUIRE(before);
  const std::string written(32 << 20, 'x');
  const auto after = own_memory_of(::getpid());
  REQUIRE(after);
  CHECK(*after >= *before + written.size() / 2);
  CHECK(*after <= *before + written.size() * 2);
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[1]);
    char byte;
    ::_exit(static_cast<int>(::read(ends[0], &byte, 1)));
  }
  const auto shared = own_memory_of(child);
  ::close(ends[0]);
  ::close(ends[1]);
  ::waitpid(child, nullptr, 0);
  REQUIRE(shared);
  CHECK(*shared < written.size() / 2);
}

TEST_CASE("memory: there is none of a process that there is not") {
  CHECK_FALSE(memory_of(0));
  CHECK_FALSE(memory_of(-1));
  CHECK_FALSE(memory_of(1 << 30));
  CHECK_FALSE(own_memory_of(0));
  CHECK_FALSE(own_memory_of(1 << 30));
}
