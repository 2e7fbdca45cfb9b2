#include "proxy/process/memory_kills.h"

#include <sys/wait.h>

#include <csignal>
#include <fstream>

#include "proxy/process/death.h"

namespace portico::process {

std::optional<std::uint64_t> MemoryKills::read() const {
  std::ifstream in(file_);
  std::string name;
  for (std::uint64_t value = 0; in >> name >> value;) {
    if (name == "oom_kill") return value;
  }
  return std::nullopt;
}

std::string MemoryKills::describe(int wait_status) {
  std::string death = describe_death(wait_status);
  if (!WIFSIGNALED(wait_status) || WTERMSIG(wait_status) != SIGKILL) return death;
  const auto before = count_;
  count_ = read();
  if (!count_ || !before) return death + ", perhaps for lack of memory";
  return *count_ > *before ? death + ", it seems for lack of memory" : death;
}

}  // namespace portico::process
