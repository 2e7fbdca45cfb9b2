#include "proxy/process/cgroup.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "proxy/core/log.h"
#include "proxy/process/cgroup_files.h"

namespace portico::process {
namespace {

// What a killed process may take to be gone: one that waits for a dead disk stays anyway.
constexpr auto most_removal = std::chrono::seconds(2);
// The kernel's own period, in microseconds: a share of a core is a part of it.
constexpr std::uint64_t cpu_period = 100'000;

core::Error error(std::string_view doing) { return {core::Fault::internal, errno, doing}; }

}  // namespace

core::Result<Cgroup> Cgroup::make(std::string directory, const conf::Resources& limits) {
  if (::mkdir(directory.c_str(), 0755) != 0) return error("making a control group");
  Cgroup made(std::move(directory), limits);
  if (!made.limit()) return error("limiting a control group");
  const std::string procs = made.directory_ + "/cgroup.procs";
  made.entrance_.reset(::open(procs.c_str(), O_WRONLY | O_CLOEXEC));
  if (!made.entrance_) return error("opening a control group");
  return made;
}

Cgroup::Cgroup(Cgroup&& other) noexcept
    : directory_(std::exchange(other.directory_, {})),
      limits_(other.limits_),
      entrance_(std::move(other.entrance_)) {}

Cgroup::~Cgroup() {
  const bool is_gone = directory_.empty() || remove_cgroup(directory_, most_removal);
  if (!is_gone) core::log(core::Level::warning, "the control group " + directory_ + " stays");
}

// Without memory.high: close to the limit it slows down all workers of a site instead of ending the
// one that takes too much. Without swap, since a site that swaps slows down every other one, and
// the number that the operator wrote would not be the limit. Only the process that takes the most
// is killed (memory.oom.group is 0): another worker comes for it.
bool Cgroup::limit() const {
  const auto set = [this](std::string_view file, const std::string& text) {
    return write_cgroup_file(directory_, file, text);
  };
  const auto& [memory, processes, cpu, where] = limits_;
  if (memory != 0) {
    if (!set("memory.max", std::to_string(memory)) || !set("memory.oom.group", "0")) return false;
    set("memory.swap.max", "0");  // not there where the kernel does not count swap
  }
  if (processes != 0 && !set("pids.max", std::to_string(processes))) return false;
  if (cpu == 0) return true;
  const std::uint64_t quota = cpu * cpu_period / 100;
  return set("cpu.max", std::to_string(quota) + " " + std::to_string(cpu_period));
}

CgroupUsage Cgroup::usage() const {
  CgroupUsage usage;
  usage.memory = cgroup_number(directory_, "memory.current");
  usage.processes = cgroup_number(directory_, "pids.current");
  usage.memory_kills = cgroup_count(directory_, "memory.events", "oom_kill").value_or(0);
  usage.refused_forks = cgroup_count(directory_, "pids.events", "max").value_or(0);
  return usage;
}

bool enter_cgroup(int entrance) { return ::write(entrance, "0", 1) == 1; }

}  // namespace portico::process
