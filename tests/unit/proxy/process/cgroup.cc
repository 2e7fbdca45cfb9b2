// Control groups: where we stand, what is written to divide it, and what is told where that fails.
// A directory plays the tree; what only the kernel does is tested end to end.
#include "proxy/process/cgroup.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "proxy/process/cgroup_place.h"
#include "proxy/process/cgroup_tree.h"
#include "proxy/process/memory_kills.h"
#include "tests/support/sockets.h"

using namespace portico;
using namespace portico::process;

namespace {

constexpr const char* hybrid =
    "31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n"
    "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"
    "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime shared:9 - cgroup2 cgroup2 rw\n";

void write(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

std::string read(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// A group as the kernel shows one that was delegated.
class Tree {
 public:
  explicit Tree(const std::string& controllers) {
    place.top = place.home = place.base = folder.file("");
    write(folder.file("cgroup.controllers"), controllers);
    write(folder.file("cgroup.subtree_control"), "");
  }
  std::string ours() const { return place.base + "/portico-" + std::to_string(::getpid()); }

  tests::ScratchDirectory folder;
  CgroupPlace place;
};

}  // namespace

TEST_CASE(
    "cgroup: our group is found in a hybrid tree, below a mount, and behind an escaped space") {
  CHECK(cgroup_place("4:memory:/x\n0::/a/b.service\n", hybrid).home ==
        "/sys/fs/cgroup/unified/a/b.service");
  CHECK(cgroup_place("0::/\n", hybrid).home == "/sys/fs/cgroup/unified");
  const char* part = "41 31 0:38 /box /sys/fs/my\\040groups rw - cgroup2 cgroup2 rw\n";
  CHECK(cgroup_place("0::/box/in\n", part).home == "/sys/fs/my groups/in");
  CHECK(cgroup_place("0::/box/in\n", part).top == "/sys/fs/my groups");
  CHECK_FALSE(cgroup_place("0::/boxes\n", part).problem.empty());
}

TEST_CASE("cgroup: a machine without version 2 is told what it lacks") {
  const CgroupPlace none = cgroup_place("4:memory:/x\n", hybrid);
  CHECK(none.top.empty());
  CHECK(none.problem.find("systemd.unified_cgroup_hierarchy=1") != std::string::npos);
  std::string problem;
  CHECK(CgroupTree::make(none, {"memory"}, problem) == nullptr);
  CHECK(problem == none.problem);
}

TEST_CASE("cgroup: we move beside the groups, and each wanted controller is handed down") {
  Tree tree("cpu memory pids io");
  std::string problem;
  const auto made = CgroupTree::make(tree.place, {"memory"}, problem);
  REQUIRE(made);
  CHECK(read(tree.ours() + "/supervisor/cgroup.procs") == "0");
  CHECK(read(tree.folder.file("cgroup.subtree_control")) == "+memory");
  CHECK(read(tree.ours() + "/cgroup.subtree_control") == "+memory");
  CHECK(made->problem_of("memory").empty());
}

TEST_CASE("cgroup: a controller that is not offered is a problem, and nobody moves for it") {
  Tree tree("hugetlb");
  std::string problem;
  const auto made = CgroupTree::make(tree.place, {"memory", "pids"}, problem);
  REQUIRE(made);
  CHECK(problem.empty());
  CHECK(made->problem_of("pids").find("Delegate=yes") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(tree.ours()));
}

TEST_CASE("cgroup: names of applications are names of directories") {
  CHECK(cgroup_name("shop.example") == "site-shop.example");
  CHECK(cgroup_name("shop.example/blog/") == "site-shop.example%2Fblog%2F");
  CHECK(cgroup_name("*.a\xc3\xbc%") == "site-%2A.a%C3%BC%25");
}

TEST_CASE("cgroup: a group cannot be made where there is none of its files") {
  tests::ScratchDirectory folder;
  conf::Resources limits;
  limits.memory = 64 * conf::mib;
  const auto made = Cgroup::make(folder.file("none/site-a"), limits);
  REQUIRE_FALSE(made);
  CHECK(made.error().doing == "making a control group");
}

TEST_CASE("cgroup: the limits are written as the kernel reads them") {
  tests::ScratchDirectory folder;
  conf::Resources limits;
  limits.memory = 64 * conf::mib;
  limits.cpu = 150;
  limits.processes = 20;
  const std::string group = folder.file("site-a");
  CHECK_FALSE(Cgroup::make(group, limits));  // cgroup.procs is the kernel's to make
  CHECK(read(group + "/memory.max") == "67108864");
  CHECK(read(group + "/memory.swap.max") == "0");
  CHECK(read(group + "/cpu.max") == "150000 100000");
  CHECK(read(group + "/pids.max") == "20");
}

TEST_CASE(
    "cgroup: a kill at the group's own limit, one for the machine's sake, and others differ") {
  tests::ScratchDirectory folder;
  const std::string events = folder.file("memory.events");
  write(events, "low 0\nmax 3\noom 0\noom_kill 0\n");
  MemoryKills kills(events, "64MiB");
  CHECK(kills.describe(SIGKILL) == "was killed by signal 9 (Killed)");
  write(events, "low 0\nmax 9\noom 1\noom_kill 2\n");
  const std::string at_limit =
      "was killed by signal 9 (Killed) for lack of memory: its site may use 64MiB "
      "(resources.memory)";
  CHECK(kills.describe(SIGKILL) == at_limit);
  CHECK(kills.describe(SIGKILL) == at_limit);
  CHECK(kills.describe(SIGKILL) == "was killed by signal 9 (Killed)");
  write(events, "low 0\nmax 9\noom 1\noom_kill 3\n");
  CHECK(kills.describe(SIGKILL) ==
        "was killed by signal 9 (Killed), for lack of memory on the machine");
}
