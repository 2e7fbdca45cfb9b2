// Cgroup: one control group (cgroup v2) with limits for all processes in it together.
//
// Made by a CgroupTree, which it must not outlive; owned by whoever gives its processes the
// entrance (spawn.h, Command::group). The supervisor's thread. Source: cgroups(7) and the kernel's
// Documentation/admin-guide/cgroup-v2.rst.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "conf/config.h"
#include "proxy/core/fd.h"
#include "proxy/core/result.h"

namespace portico::process {

/// What a group uses, and how often it came to its limits. None: that is not counted.
struct CgroupUsage {
  std::optional<std::uint64_t> memory;     ///< bytes
  std::optional<std::uint64_t> processes;  ///< in number, threads included
  std::uint64_t memory_kills = 0;          ///< processes that the kernel killed for lack of memory
  std::uint64_t refused_forks = 0;         ///< for too many processes
};

class Cgroup {
 public:
  /// limits  those that are in force: of controllers which the kernel offers there
  /// Errors  Fault::internal with errno; `doing` names the step. Nothing is left then.
  static core::Result<Cgroup> make(std::string directory, const conf::Resources& limits);
  Cgroup(Cgroup&& other) noexcept;
  Cgroup& operator=(Cgroup&&) = delete;
  /// Ends what still runs in it, and removes it.
  ~Cgroup();

  /// What enter_cgroup() takes; stays open with this.
  int entrance() const { return entrance_.get(); }
  const conf::Resources& limits() const { return limits_; }
  CgroupUsage usage() const;
  /// The file in which the kernel counts what it did for lack of memory: memory_kills.h.
  std::string memory_events() const { return directory_ + "/memory.events"; }

 private:
  Cgroup(std::string directory, const conf::Resources& limits)
      : directory_(std::move(directory)), limits_(limits) {}
  bool limit() const;

  std::string directory_;  // empty: another has it
  conf::Resources limits_;
  core::Fd entrance_;
};

/// Puts the calling process in; whatever it starts from then on belongs there too. False, with
/// errno: it stays where it is. Async-signal-safe.
bool enter_cgroup(int entrance);

}  // namespace portico::process
