#include "backend/host/stacks.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <string>

#include "backend/record/control.h"

namespace portico::backend {
namespace {

// "SigCgt:\t0000000180000002" in /proc/PID/status: bit 0 is signal 1.
bool catches(pid_t pid, int signal) {
  std::ifstream in("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with("SigCgt:")) continue;
    const std::uint64_t caught = std::strtoull(line.c_str() + 7, nullptr, 16);
    return (caught >> (signal - 1) & 1) != 0;
  }
  return false;
}

}  // namespace

bool ask_for_stacks(pid_t pid, pid_t tid) {
  const int signal = record::stack_signal();
  if (pid <= 1 || !catches(pid, signal)) return false;
  if (tid > 0 && ::syscall(SYS_tgkill, pid, tid, signal) == 0) return true;
  return ::kill(pid, signal) == 0;
}

}  // namespace portico::backend
