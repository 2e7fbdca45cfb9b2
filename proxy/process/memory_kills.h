// MemoryKills: whether the kernel has killed processes for lack of memory, of the machine or of a
// cgroup.
//
// Owned by whoever explains deaths; its thread. The kernel counts such kills for all together, so
// that a growing count makes it likely, not certain, that a killed process is one of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace portico::process {

class MemoryKills {
 public:
  /// file  as /proc/vmstat has it: a line "oom_kill 12" (Linux 4.13)
  explicit MemoryKills(std::string file = "/proc/vmstat")
      : file_(std::move(file)), count_(read()) {}

  /// describe_death(), and what the count says of a SIGKILL since this was last asked.
  std::string describe(int wait_status);

 private:
  std::optional<std::uint64_t> read() const;

  std::string file_;
  std::optional<std::uint64_t> count_;
};

}  // namespace portico::process
