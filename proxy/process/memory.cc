#include "proxy/process/memory.h"

#include <unistd.h>

#include <fstream>
#include <limits>
#include <string>

namespace portico::process {
namespace {

std::string file_of(pid_t pid, const char* name) {
  return "/proc/" + std::to_string(pid) + "/" + name;
}

// proc_pid_smaps(5): "Pss:   1234 kB", once in the sum.
std::optional<Memory> proportional(pid_t pid) {
  std::ifstream in(file_of(pid, "smaps_rollup"));
  for (std::string word; in >> word;) {
    std::uint64_t kilobytes = 0;
    if (word == "Pss:" && in >> kilobytes) return Memory{kilobytes * 1024, Counted::shared_fairly};
    in.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return std::nullopt;
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
  const auto fair = proportional(pid);
  return fair ? fair : resident_alone(pid);
}

}  // namespace portico::process
