// Report: what a service says of itself when it is asked: values, which others make into text.
//
// Made by a process::Service in the supervisor's thread; read there by whoever answers for status.
// Memory of processes is not among them: it is read when it is wanted (memory.h).
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/core/loop.h"
#include "proxy/process/identity.h"

namespace portico::process {

/// Something that went wrong, and when.
struct Trouble {
  std::chrono::system_clock::time_point when;
  std::string what;
};

/// The last few of them, the newest last.
class Troubles {
 public:
  static constexpr std::size_t kept = 8;

  void note(std::string_view what) {
    list_.push_back({std::chrono::system_clock::now(), std::string(what)});
    if (list_.size() > kept) list_.pop_front();
  }
  const std::deque<Trouble>& list() const { return list_; }

 private:
  std::deque<Trouble> list_;
};

struct WorkerReport {
  enum class State : std::uint8_t { starting, ready, leaving };

  unsigned number = 0;
  pid_t pid = 0;  ///< 0: not yet known
  State state = State::starting;
  core::Duration age{};  ///< since it was asked for
  std::string due;       ///< why it makes room for another soon, as in "after 10012 requests"
};

/// A process that a site has beside its workers.
struct CompanionReport {
  /// waiting   for the application to come up, or for the next try after an end
  /// running   it was started
  /// stopping  it was told to end
  enum class State : std::uint8_t { waiting, running, stopping };

  std::string name;
  State state = State::waiting;
  pid_t pid = 0;            ///< 0: it does not run
  core::Duration age{};     ///< in this state
  bool is_failing = false;  ///< it has ended by itself a short while ago
  unsigned ends = 0;        ///< how often it has ended by itself
  std::string last_end;     ///< how, as a sentence goes on; empty: never
};

/// How new code goes, or went, on its way into use.
struct DeployReport {
  /// running  `step` says what it is at
  /// done     the new code serves
  /// failed   the old code stays; `step` is where it failed, `reason` why
  enum class State : std::uint8_t { running, done, failed };

  State state = State::running;
  std::string step;  ///< "importing shop.wsgi"; of one that is done empty
  std::chrono::system_clock::time_point began;
  std::chrono::system_clock::time_point since;  ///< at this step; or when it ended
  std::string reason;                           ///< empty unless failed
};

/// What all processes of a site together use, and may use. 0: no limit, or none in force.
struct ResourceReport {
  std::optional<std::uint64_t> memory;     ///< bytes; none: that is not counted
  std::optional<std::uint64_t> processes;  ///< in number, threads included; likewise
  std::uint64_t most_memory = 0;
  std::uint64_t most_processes = 0;
  std::uint64_t most_cpu = 0;       ///< percent of one core
  std::uint64_t memory_kills = 0;   ///< processes that the kernel killed for lack of memory
  std::uint64_t refused_forks = 0;  ///< for too many processes
  std::string problem;              ///< which limits are not in force, and why; empty: all are
};

struct ServiceReport {
  /// starting  none of its workers takes requests (yet)
  /// ready     at least one does
  /// failed    it cannot run for now; `reason` says why
  /// sleeping  it has no process; a request starts it
  enum class State : std::uint8_t { starting, ready, failed, sleeping };

  std::string name;  ///< that of the application
  std::string site;
  State state = State::starting;
  std::string reason;            ///< empty unless failed
  std::optional<Identity> user;  ///< whom its processes run as; none: as the supervisor
  pid_t parent = 0;              ///< the process that its workers are forked from; 0: none
  pid_t base = 0;                ///< what that was forked from, for several sites; 0: none
  bool preloads = true;          ///< that process has imported the application; else each worker
  unsigned wanted = 0;           ///< how many workers there should be now
  unsigned least = 0;            ///< how many whatever there is to do; the others come and go
  unsigned most = 0;             ///< how many there may be
  unsigned recycled = 0;         ///< how many have made room for another
  std::vector<WorkerReport> workers;
  std::vector<CompanionReport> companions;
  std::optional<DeployReport> deploy;       ///< that which runs, or the last; none: never
  std::optional<ResourceReport> resources;  ///< none: the operator asked for no limit
  std::deque<Trouble> troubles;
};

}  // namespace portico::process
