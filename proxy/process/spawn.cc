#include "proxy/process/spawn.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>

#include "proxy/core/fd.h"
#include "proxy/process/cgroup.h"
#include "proxy/process/limits.h"

namespace portico::process {
namespace {

using core::Error;
using core::Fault;
using core::Fd;
using core::Result;

/// The steps of the child in their order. A literal travels through the pipe as its index.
enum class Step : int {
  session,
  group,
  files,
  limit,
  groups,
  directory,
  parent,
  execute,
};

constexpr std::string_view step_text[] = {
    "starting a session",     "entering the control group", "placing descriptors",
    "setting a limit",        "changing the user",          "entering the directory",
    "looking for the parent", "executing the program",
};

/// What the child writes when a step fails; shorter than PIPE_BUF, so it arrives whole.
struct Report {
  Step step;
  int os;
};

/// Everything the child needs, made before the fork: afterwards it may only make system calls,
/// since another thread may have held the allocator's lock.
struct Plan {
  const Command& command;
  std::vector<char*> arguments;
  std::vector<char*> environment;
  std::vector<Given> fds;
  std::string oom_score;  // as the kernel reads it; empty: ours
  pid_t parent;
  int above;  // greater than every number that a descriptor gets
};

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> out;
  out.reserve(texts.size() + 1);
  for (const std::string& text : texts) out.push_back(const_cast<char*>(text.c_str()));
  out.push_back(nullptr);
  return out;
}

bool gives(const std::vector<Given>& fds, int number) {
  return std::any_of(fds.begin(), fds.end(), [&](const Given& g) { return g.number == number; });
}

int above_all(const std::vector<Given>& fds) {
  int above = STDERR_FILENO + 1;
  for (const Given& given : fds) above = std::max(above, given.number + 1);
  return above;
}

// From here to enter(): in the child, system calls only.

[[noreturn]] void give_up(int report_fd, Step step) {
  const Report report{step, errno};
  [[maybe_unused]] const ssize_t written = ::write(report_fd, &report, sizeof report);
  ::_exit(127);  // as a shell that cannot execute
}

void close_range_on_exec() {
  if (::close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC) == 0) return;
  rlimit limit{};  // a kernel before 5.11: one by one
  ::getrlimit(RLIMIT_NOFILE, &limit);
  for (int fd = STDERR_FILENO + 1; fd < static_cast<int>(limit.rlim_cur); ++fd)
    ::fcntl(fd, F_SETFD, FD_CLOEXEC);
}

// First out of the way of every number, then to its own: sources and numbers may overlap. dup2
// gives a descriptor that stays open over exec; all others are marked to be closed.
bool place_descriptors(Plan& plan) {
  for (Given& given : plan.fds) {
    given.fd = ::fcntl(given.fd, F_DUPFD_CLOEXEC, plan.above);
    if (given.fd < 0) return false;
  }
  close_range_on_exec();
  for (const Given& given : plan.fds)
    if (::dup2(given.fd, given.number) < 0) return false;
  return true;
}

// Best effort: where /proc is not there, the kernel chooses without it.
void offer_to_die_first(const Plan& plan) {
  if (plan.oom_score.empty()) return;
  const int fd = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (fd < 0) return;
  [[maybe_unused]] const ssize_t written =
      ::write(fd, plan.oom_score.data(), plan.oom_score.size());
  ::close(fd);
}

bool limit_resources(const Command& command) {
  const rlimit none{0, 0};
  if (::setrlimit(RLIMIT_CORE, &none) != 0) return false;
  if (command.processes) {
    const rlimit most{*command.processes, *command.processes};
    if (::setrlimit(RLIMIT_NPROC, &most) != 0) return false;
  }
  if (!command.open_files) return true;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return false;
  limit.rlim_cur = std::min<rlim_t>(*command.open_files, limit.rlim_max);
  return ::setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

bool change_user(const Command& command) {
  if (command.umask) ::umask(*command.umask);
  if (!command.identity) return true;
  const Identity& who = *command.identity;
  return change_identity(who.user, who.group, who.groups.data(), who.groups.size()) == nullptr;
}

// A disposition of "ignore" outlives exec, and so does the mask.
void reset_signals() {
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  for (int signal = 1; signal < NSIG; ++signal) ::sigaction(signal, &action, nullptr);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

[[noreturn]] void enter(Plan& plan, int report_fd) {
  const Command& command = plan.command;
  report_fd = ::fcntl(report_fd, F_DUPFD_CLOEXEC, plan.above);
  if (::setsid() < 0) give_up(report_fd, Step::session);
  if (command.group >= 0 && !enter_cgroup(command.group)) give_up(report_fd, Step::group);
  if (!place_descriptors(plan)) give_up(report_fd, Step::files);
  offer_to_die_first(plan);
  if (!limit_resources(command)) give_up(report_fd, Step::limit);
  if (!change_user(command)) give_up(report_fd, Step::groups);
  forbid_new_privileges();
  if (!command.directory.empty() && ::chdir(command.directory.c_str()) != 0)
    give_up(report_fd, Step::directory);
  if (!die_with(plan.parent, command.death_signal)) give_up(report_fd, Step::parent);
  reset_signals();
  ::execve(command.path.c_str(), plan.arguments.data(), plan.environment.data());
  give_up(report_fd, Step::execute);
}

/// No signal handler of ours may run in the child while it still shares our code.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_;
};

Result<pid_t> outcome(pid_t child, int report_fd) {
  Report report{};
  ssize_t got = 0;
  do {
    got = ::read(report_fd, &report, sizeof report);
  } while (got < 0 && errno == EINTR);
  if (got != static_cast<ssize_t>(sizeof report)) return child;  // closed by the exec
  while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  return Error{Fault::internal, report.os, step_text[static_cast<std::size_t>(report.step)]};
}

Result<pid_t> start(Plan& plan) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return Error{Fault::no_descriptors, errno, "making a pipe"};
  const Fd read_end(ends[0]);
  Fd write_end(ends[1]);
  pid_t child = -1;
  {
    const SignalsBlocked blocked;
    child = ::fork();
    if (child == 0) enter(plan, write_end.get());
  }
  if (child < 0) return Error{Fault::internal, errno, "forking"};
  write_end.reset();
  return outcome(child, read_end.get());
}

}  // namespace

Result<pid_t> spawn(const Command& command) {
  Plan plan{command,
            pointers(command.arguments),
            pointers(command.environment),
            command.fds,
            command.oom_score == 0 ? std::string() : std::to_string(command.oom_score),
            ::getpid(),
            0};
  Fd nothing;
  if (!gives(plan.fds, STDIN_FILENO)) {
    nothing.reset(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    if (!nothing) return Error{Fault::no_descriptors, errno, "opening /dev/null"};
    plan.fds.push_back({nothing.get(), STDIN_FILENO});
  }
  plan.above = above_all(plan.fds);
  return start(plan);
}

std::vector<std::string> environment_without(const std::vector<std::string>& names) {
  std::vector<std::string> out;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const auto name = text.substr(0, text.find('='));
    if (std::find(names.begin(), names.end(), name) == names.end()) out.emplace_back(text);
  }
  return out;
}

}  // namespace portico::process
