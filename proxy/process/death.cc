#include "proxy/process/death.h"

#include <sys/wait.h>

#include <csignal>
#include <cstring>

namespace portico::process {
namespace {

// What a fault of the process's own brings upon it.
bool is_crash(int signal) {
  return signal == SIGSEGV || signal == SIGBUS || signal == SIGABRT || signal == SIGILL ||
         signal == SIGFPE || signal == SIGTRAP || signal == SIGSYS;
}

}  // namespace

std::string describe_death(int wait_status) {
  if (!WIFSIGNALED(wait_status))
    return "ended with status " + std::to_string(WEXITSTATUS(wait_status));
  const int signal = WTERMSIG(wait_status);
  return std::string(is_crash(signal) ? "crashed with signal " : "was killed by signal ") +
         std::to_string(signal) + " (" + ::strsignal(signal) + ")";
}

}  // namespace portico::process
