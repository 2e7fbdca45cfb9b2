#include "proxy/process/spawn.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <string>

#include "proxy/core/fd.h"
#include "proxy/process/limits.h"

using portico::core::Fd;
using namespace portico::process;

namespace {

struct Pipe {
  Pipe() {
    int ends[2];
    REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    read_end.reset(ends[0]);
    write_end.reset(ends[1]);
  }
  Fd read_end;
  Fd write_end;
};

std::string read_all(Pipe& pipe) {
  pipe.write_end.reset();
  std::string text;
  char room[4096];
  for (ssize_t got = 0; (got = ::read(pipe.read_end.get(), room, sizeof room)) > 0;)
    text.append(room, static_cast<std::size_t>(got));
  return text;
}

int wait_for(pid_t child) {
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return status;
}

Command shell(const std::string& script) {
  Command command;
  command.path = "/bin/sh";
  command.arguments = {"sh", "-c", script};
  command.environment = {"PATH=/usr/bin:/bin"};
  return command;
}

/// What the command writes to its standard output until it ends.
std::string output_of(Command command) {
  Pipe pipe;
  command.fds.push_back({pipe.write_end.get(), STDOUT_FILENO});
  const auto child = spawn(command);
  REQUIRE(child);
  const std::string text = read_all(pipe);
  CHECK(wait_for(*child) == 0);
  return text;
}

}  // namespace

TEST_CASE("spawn: the child runs with the arguments and the environment given, and no other") {
  ::setenv("PORTICO_TEST_SECRET", "leaks", 1);
  Command command = shell("echo $1 $NAME; env | grep -c -v '^_=\\|^PWD=' ");
  command.arguments.insert(command.arguments.end(), {"zero", "one"});
  command.environment.push_back("NAME=value");
  CHECK(output_of(command) == "one value\n2\n");
}

TEST_CASE("spawn: the child enters its control group by itself, and does not keep the entrance") {
  Pipe entrance;
  Command command = shell("ls /proc/$$/fd; true");
  command.group = entrance.write_end.get();
  CHECK(output_of(command) == "0\n1\n2\n");
  CHECK(read_all(entrance) == "0");
}

TEST_CASE("spawn: a control group that is gone is a step that failed") {
  const Fd closed(::open("/dev/null", O_RDONLY | O_CLOEXEC));  // no entrance: it takes no writes
  Command command = shell("true");
  command.group = closed.get();
  const auto child = spawn(command);
  REQUIRE_FALSE(child);
  CHECK(child.error().doing == "entering the control group");
}

TEST_CASE("spawn: the child has the descriptors given, at their numbers, and none beside them") {
  const Fd leaky(::open("/dev/null", O_RDONLY));  // not close-on-exec
  // The shell waits for ls and holds nothing of its own meanwhile, as it would for a pipeline.
  Command command = shell("ls /proc/$$/fd; true");
  command.fds = {{leaky.get(), 7}, {leaky.get(), 4}};
  CHECK(output_of(command) == "0\n1\n2\n4\n7\n");
}

TEST_CASE("spawn: descriptors whose numbers overlap with their sources change places") {
  Pipe a;
  Pipe b;
  Command command = shell("echo to-a >&" + std::to_string(b.write_end.get()) + "; echo to-b >&" +
                          std::to_string(a.write_end.get()));
  REQUIRE(b.write_end.get() < 10);  // dash reads one digit
  command.fds = {{a.write_end.get(), b.write_end.get()}, {b.write_end.get(), a.write_end.get()}};
  const auto child = spawn(command);
  REQUIRE(child);
  CHECK(read_all(a) == "to-a\n");
  CHECK(read_all(b) == "to-b\n");
  CHECK(wait_for(*child) == 0);
}

TEST_CASE("spawn: standard input is /dev/null unless given") {
  CHECK(output_of(shell("readlink /proc/self/fd/0")) == "/dev/null\n");
}

TEST_CASE("spawn: the child is the leader of its own session") {
  CHECK(output_of(shell("cut -d' ' -f1,5,6 /proc/$$/stat | awk '{print ($1==$2 && $2==$3)}'")) ==
        "1\n");
}

TEST_CASE("spawn: ignored and blocked signals are the default again in the child") {
  ignore_signal(SIGPIPE);
  ignore_signal(SIGUSR1);
  CHECK(output_of(shell("grep -h '^Sig[BI]' /proc/self/status")) ==
        "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
}

TEST_CASE("spawn: no new privileges and no core dumps") {
  CHECK(output_of(shell("grep NoNewPrivs /proc/self/status; ulimit -c")) == "NoNewPrivs:\t1\n0\n");
}

TEST_CASE("spawn: directory, umask and open files are as asked") {
  Command command = shell("pwd; umask; ulimit -S -n");
  command.directory = "/usr";
  command.umask = mode_t{027};
  command.open_files = 123;
  CHECK(output_of(command) == "/usr\n0027\n123\n");
}

TEST_CASE("spawn: the number of its user's processes, and how soon it dies when memory runs out") {
  Command command = shell("");
  command.path = "/bin/bash";
  command.arguments = {"bash", "-c",
                       "ulimit -S -u; ulimit -H -u; read n < /proc/self/oom_score_adj; echo $n"};
  command.processes = 4321;
  command.oom_score = 999;
  CHECK(output_of(command) == "4321\n4321\n999\n");
}

TEST_CASE("spawn: a child of root becomes the user asked for, with no way back") {
  if (!started_as_root()) return;
  Command command = shell("grep -h '^[UG]id\\|^Groups' /proc/self/status");
  command.identity = Identity{65534, 65533, {65533, 65532}, "nobody", "/"};
  CHECK(output_of(command) ==
        "Uid:\t65534\t65534\t65534\t65534\nGid:\t65533\t65533\t65533\t65533\n"
        "Groups:\t65532 65533 \n");
}

TEST_CASE("spawn: a directory that the child's user may not enter is told as such") {
  if (!started_as_root()) return;
  char name[] = "/tmp/portico-spawn-XXXXXX";
  REQUIRE(::mkdtemp(name) != nullptr);
  Command command = shell("true");
  command.directory = name;
  command.identity = Identity{65534, 65534, {}, "nobody", "/"};
  const auto child = spawn(command);
  ::rmdir(name);
  REQUIRE_FALSE(child);
  CHECK(child.error().os == EACCES);
  CHECK(child.error().doing == "entering the directory");
}

TEST_CASE("spawn: a program that cannot be executed is an error with its cause, and no child") {
  Command command = shell("true");
  command.path = "/nonexistent/python";
  const auto child = spawn(command);
  REQUIRE_FALSE(child);
  CHECK(child.error().os == ENOENT);
  CHECK(child.error().doing == "executing the program");
  CHECK(::waitpid(-1, nullptr, WNOHANG) == -1);
}

TEST_CASE("spawn: the child dies with us") {
  Pipe pipe;
  const pid_t middle = ::fork();
  if (middle == 0) {
    Command command = shell("exec sleep 1000");
    command.fds.push_back({pipe.write_end.get(), STDOUT_FILENO});
    ::_exit(spawn(command) ? 0 : 1);
  }
  CHECK(wait_for(middle) == 0);
  CHECK(read_all(pipe).empty());  // ends only because the sleeper was killed
}

TEST_CASE("identity: an unknown user is an error; the front is somebody without privileges") {
  CHECK_FALSE(find_identity("no-such-user-here"));
  const auto front = front_identity("");
  REQUIRE(front);
  CHECK((front->name == "portico" || front->name == "nobody"));
  CHECK(front->user != 0);
}

TEST_CASE("environment_without: leaves out whole names only") {
  ::setenv("PORTICO_A", "1", 1);
  ::setenv("PORTICO_AB", "2", 1);
  const auto all = environment_without({"PORTICO_A"});
  CHECK(std::find(all.begin(), all.end(), "PORTICO_A=1") == all.end());
  CHECK(std::find(all.begin(), all.end(), "PORTICO_AB=2") != all.end());
}
