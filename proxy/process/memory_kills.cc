#include "proxy/process/memory_kills.h"

#include <sys/wait.h>

#include <csignal>
#include <fstream>
#include <utility>

#include "proxy/process/death.h"

namespace portico::process {

std::optional<std::uint64_t> MemoryKills::read(std::string_view key) const {
  std::ifstream in(file_);
  std::string name;
  for (std::uint64_t value = 0; in >> name >> value;) {
    if (name == key) return value;
  }
  return std::nullopt;
}

// A control group counts every kill in it, but as its own only those at its own limit.
std::string MemoryKills::cause() {
  if (limit_.empty()) return ", it seems for lack of memory";
  const std::uint64_t before = std::exchange(reached_, read("oom").value_or(0));
  if (reached_ == before) return ", for lack of memory on the machine";
  return " for lack of memory: its site may use " + limit_ + " (resources.memory)";
}

void MemoryKills::count(std::uint64_t now) {
  const std::uint64_t before = std::exchange(count_, now).value_or(now);
  const bool is_over = Clock::now() - counted_at_ > memory_of_kills;
  if (is_over) untold_ = 0;
  if (now <= before) return;
  untold_ += now - before;
  why_ = cause();
  counted_at_ = Clock::now();
}

std::string MemoryKills::describe(int wait_status) {
  std::string death = describe_death(wait_status);
  if (!WIFSIGNALED(wait_status) || WTERMSIG(wait_status) != SIGKILL) return death;
  const bool was_counted = count_.has_value();
  const auto now = read("oom_kill");
  if (!now || !was_counted) {
    count_ = now;
    return death + ", perhaps for lack of memory";
  }
  count(*now);
  if (untold_ == 0) return death;
  --untold_;
  return death + why_;
}

}  // namespace portico::process
