// What children leave behind: groups and sessions, with real processes.
#include "proxy/process/session.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "proxy/core/fd.h"
#include "proxy/process/spawn.h"

using namespace portico::process;

namespace {

/// A leader of a session with two children: one in its own group, one in another.
struct Family {
  Family() {
    ::prctl(PR_SET_CHILD_SUBREAPER, 1L, 0L, 0L, 0L);
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    const portico::core::Fd read_end(ends[0]);
    portico::core::Fd write_end(ends[1]);
    Command command;
    command.path = "/usr/bin/python3";
    command.arguments = {"python3", "-c",
                         "import os, time\n"
                         "one = os.fork() or time.sleep(3600)\n"
                         "other = os.fork() or os.setpgid(0, 0) or time.sleep(3600)\n"
                         "while os.getpgid(other) != other: os.sched_yield()\n"
                         "os.write(1, b'%d %d ' % (one, other))\n"
                         "time.sleep(3600)\n"};
    command.fds = {{write_end.get(), STDOUT_FILENO}};
    leader = *spawn(command);
    write_end.reset();
    char text[64] = {};
    REQUIRE(::read(read_end.get(), text, sizeof text - 1) > 0);
    REQUIRE(std::sscanf(text, "%d %d", &one, &other) == 2);
  }
  ~Family() {
    for (const pid_t pid : {leader, one, other}) ::kill(pid, SIGKILL);
    while (::waitpid(-1, nullptr, 0) > 0) {
    }
  }
  /// Waits for an end that is sure to come.
  static void reap(pid_t pid) { CHECK(::waitpid(pid, nullptr, 0) == pid); }

  pid_t leader = 0;
  pid_t one = 0;
  pid_t other = 0;
};

}  // namespace

TEST_CASE("session: who is whose, as the kernel sees it") {
  const Family family;
  CHECK(kinship_of(family.leader).parent == ::getpid());
  CHECK(kinship_of(family.one).parent == family.leader);
  CHECK(kinship_of(family.one).session == family.leader);
  CHECK(kinship_of(family.one).group == family.leader);
  CHECK(kinship_of(family.other).group == family.other);
  CHECK(kinship_of(0).parent == 0);
}

TEST_CASE("session: a group is killed only as part of its session") {
  const Family family;
  kill_group(::getsid(0), family.other);
  kill_group(family.leader, ::getpgid(0));
  kill_group(0, 0);
  CHECK(::kill(family.other, 0) == 0);
  CHECK(kinship_of(family.other).session == family.leader);
  kill_group(family.leader, family.other);
  ::kill(family.leader, SIGKILL);
  Family::reap(family.leader);
  Family::reap(family.other);
  CHECK(kinship_of(family.one).session == family.leader);  // of another group: it lives
}

TEST_CASE("session: all that is left of it is killed") {
  const Family family;
  ::kill(family.leader, SIGKILL);
  Family::reap(family.leader);
  kill_session(family.leader);
  Family::reap(family.one);
  Family::reap(family.other);
}
