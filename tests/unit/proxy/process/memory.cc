#include "proxy/process/memory.h"

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

TEST_CASE("memory: there is none of a process that there is not") {
  CHECK_FALSE(memory_of(0));
  CHECK_FALSE(memory_of(-1));
  CHECK_FALSE(memory_of(1 << 30));
}
