// How a process ended, in words: a crash, a kill, a lack of memory and an exit are told apart.
#include "proxy/process/death.h"

#include <catch2/catch.hpp>
#include <csignal>
#include <fstream>

#include "proxy/process/memory_kills.h"
#include "tests/support/sockets.h"

using namespace portico;
using process::describe_death;

TEST_CASE("death: an exit, a crash and a kill are told apart") {
  CHECK(describe_death(3 << 8) == "ended with status 3");
  CHECK(describe_death(SIGKILL) == "was killed by signal 9 (Killed)");
  CHECK(describe_death(SIGTERM) == "was killed by signal 15 (Terminated)");
  CHECK(describe_death(SIGSEGV) == "crashed with signal 11 (Segmentation fault)");
  CHECK(describe_death(SIGABRT) == "crashed with signal 6 (Aborted)");
}

TEST_CASE("death: the kernel's count tells when memory lacked") {
  tests::ScratchDirectory folder;
  const std::string file = folder.file("vmstat");
  const auto write = [&](const std::string& text) { std::ofstream(file) << text; };
  write("nr_free 7\noom_kill 3\nother 9\n");
  process::MemoryKills kills(file);
  CHECK(kills.describe(SIGKILL) == "was killed by signal 9 (Killed)");
  write("nr_free 7\noom_kill 4\nother 9\n");
  CHECK(kills.describe(SIGSEGV) == "crashed with signal 11 (Segmentation fault)");
  CHECK(kills.describe(SIGKILL) == "was killed by signal 9 (Killed), it seems for lack of memory");
  CHECK(kills.describe(SIGKILL) == "was killed by signal 9 (Killed)");
  write("");
  CHECK(kills.describe(SIGKILL) == "was killed by signal 9 (Killed), perhaps for lack of memory");
}
