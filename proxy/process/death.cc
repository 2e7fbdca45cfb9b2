#include "proxy/process/death.h"

#include <sys/wait.h>

#include <cstring>

namespace portico::process {

std::string describe_death(int wait_status) {
  if (!WIFSIGNALED(wait_status))
    return "ended with status " + std::to_string(WEXITSTATUS(wait_status));
  const int signal = WTERMSIG(wait_status);
  return "was killed by signal " + std::to_string(signal) + " (" + ::strsignal(signal) + ")";
}

}  // namespace portico::process
