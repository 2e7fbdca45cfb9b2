// MemoryKills: whether the kernel has killed processes for lack of memory, of the machine or of a
// cgroup.
//
// Owned by whoever explains deaths; its thread. The kernel counts such kills for all together, so
// that a growing count makes it likely, not certain, that a killed process is one of them: less so
// for all of the machine than for the few processes of a control group.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace portico::process {

class MemoryKills {
 public:
  /// file  as /proc/vmstat has it: a line "oom_kill 12" (Linux 4.13)
  explicit MemoryKills(std::string file = "/proc/vmstat")
      : file_(std::move(file)), count_(read("oom_kill")) {}
  /// events  of a control group, as memory.events: also "oom 3", how often its own limit was why
  /// limit   that limit, as it is to be told
  MemoryKills(std::string events, std::string limit)
      : file_(std::move(events)),
        limit_(std::move(limit)),
        count_(read("oom_kill")),
        reached_(read("oom").value_or(0)) {}

  /// describe_death(), and what the count says of a SIGKILL since this was last asked. Of several
  /// that were killed at once each is told so.
  std::string describe(int wait_status);

 private:
  using Clock = std::chrono::steady_clock;
  /// How long after it was counted a kill may explain a death.
  static constexpr Clock::duration memory_of_kills = std::chrono::seconds(2);

  std::optional<std::uint64_t> read(std::string_view key) const;
  void count(std::uint64_t now);
  std::string cause();

  std::string file_;
  std::string limit_;  // empty: of the machine
  std::optional<std::uint64_t> count_;
  std::uint64_t reached_ = 0;
  std::uint64_t untold_ = 0;  // counted, and no death was told for it
  std::string why_;           // of those
  Clock::time_point counted_at_;
};

}  // namespace portico::process
