#include "proxy/process/memory.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>

namespace portico::process {
namespace {

std::string file_of(pid_t pid, const char* name) {
  return "/proc/" + std::to_string(pid) + "/" + name;
}

// proc_pid_smaps(5): "Pss:   1234 kB", each kind once in the sum. That of the kinds named; nothing:
// none of them stands there.
std::optional<std::uint64_t> rolled_up(pid_t pid, std::initializer_list<std::string_view> kinds) {
  std::ifstream in(file_of(pid, "smaps_rollup"));
  std::optional<std::uint64_t> sum;
  for (std::string word; in >> word;) {
    std::uint64_t kilobytes = 0;
    const bool is_meant = std::find(kinds.begin(), kinds.end(), word) != kinds.end();
    if (is_meant && in >> kilobytes) sum = sum.value_or(0) + kilobytes * 1024;
    in.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return sum;
}

// proc_pid_statm(5): size, resident, shared, ... in pages.
std::optional<Memory> resident_alone(pid_t pid) {
  std::ifstream in(file_of(pid, "statm"));
  std::uint64_t size = 0;
  std::uint64_t resident = 0;
  std::uint64_t shared = 0;
  if (!(in >> size >> resident >> shared) || shared > resident) return std::nullopt;
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return Memory{(resident - shared) * page, Counted::alone};
}

}  // namespace

std::optional<Memory> memory_of(pid_t pid) {
  if (pid <= 0) return std::nullopt;
  const auto fair = rolled_up(pid, {"Pss:"});
  if (fair) return Memory{*fair, Counted::shared_fairly};
  return resident_alone(pid);
}

std::optional<std::uint64_t> own_memory_of(pid_t pid) {
  if (pid <= 0) return std::nullopt;
  const auto own = rolled_up(pid, {"Private_Clean:", "Private_Dirty:", "SwapPss:"});
  if (own) return own;
  const auto resident = resident_alone(pid);
  if (!resident) return std::nullopt;
  return resident->bytes;
}

}  // namespace portico::process
