// Memory: what a process costs, as the kernel counts it. Looks at /proc; any thread.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>

namespace portico::process {

/// How the bytes were counted.
enum class Counted : std::uint8_t {
  shared_fairly,  ///< PSS: pages that several processes share count for each with its part
  alone           ///< private: resident pages that belong to no file and no shared memory
};

struct Memory {
  std::uint64_t bytes = 0;
  Counted how = Counted::shared_fairly;
};

/// PSS where we may read it (smaps_rollup: our own user's processes, or as root); else what is
/// resident and not shared, by /proc/PID/statm. Nothing: there is no such process.
std::optional<Memory> memory_of(pid_t pid);

/// What the end of a process would give back: its private pages, resident or swapped out, where we
/// may read that (smaps_rollup); else what is resident and not shared. In bytes. Nothing: there is
/// no such process.
std::optional<std::uint64_t> own_memory_of(pid_t pid);

}  // namespace portico::process
