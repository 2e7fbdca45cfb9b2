// Status: how everything is at this moment, as `portico status` shows it.
//
// Pure: made by the supervisor of what its services report and of what the front knows; turned into
// text by status_json.h and status_text.h. portico(8), "STATUS".
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "conf/config.h"
#include "proxy/process/memory.h"
#include "proxy/process/report.h"
#include "proxy/run/front_report.h"

namespace portico::run {

/// The worst of what belongs to a thing. down: it answers nothing; degraded: less than it should,
/// or nobody knows.
enum class Standing : std::uint8_t { well, degraded, down };

using MemoryOf = std::function<std::optional<process::Memory>(pid_t)>;

struct ProcessStatus {
  pid_t pid = 0;  ///< 0: there is none
  std::optional<process::Memory> memory;
};

struct WorkerStatus {
  process::WorkerReport report;
  std::optional<process::Memory> memory;
  std::optional<std::uint64_t> requests;  ///< answered; none: the front does not tell
};

struct CompanionStatus {
  process::CompanionReport report;
  std::optional<process::Memory> memory;
};

struct ApplicationStatus {
  process::ServiceReport report;
  Standing standing = Standing::well;
  std::string reason;  ///< why it is not well; empty: it is
  ProcessStatus parent;
  ProcessStatus base;
  std::vector<WorkerStatus> workers;
  std::vector<CompanionStatus> companions;
};

struct EndpointStatus {
  enum class State : std::uint8_t { up, down, unknown };

  std::string address;
  State state = State::unknown;
  std::string reason;         ///< empty: it is up
  std::uint64_t running = 0;  ///< requests at this moment
};

struct PoolStatus {
  std::string name;
  Standing standing = Standing::well;
  std::vector<EndpointStatus> endpoints;
};

struct RouteStatus {
  std::string path;
  bool is_application = false;  ///< else a pool
  std::string target;           ///< its name
};

struct SiteStatus {
  std::string name;
  Standing standing = Standing::well;
  std::vector<RouteStatus> routes;
  std::optional<std::array<std::uint64_t, 6>> requests;  ///< by class of status; [0]: no answer
};

struct Status {
  Standing standing = Standing::well;
  std::vector<std::string> reasons;  ///< of what concerns the whole, such as a front that is away
  bool stopping = false;
  ProcessStatus supervisor;
  core::Duration age{};  ///< of the supervisor
  ProcessStatus front;
  bool front_answers = false;
  std::vector<SiteStatus> sites;
  std::vector<ApplicationStatus> applications;
  std::vector<PoolStatus> pools;
};

/// What the supervisor knows by itself.
struct Knowledge {
  const conf::Config& config;
  std::vector<process::ServiceReport> services;
  const FrontReport* front = nullptr;  ///< null: it did not answer
  pid_t front_pid = 0;
  bool stopping = false;
  core::Duration age{};
};

/// sees  the sites that the caller may see
Status status_of(const Knowledge& known, const std::function<bool(const std::string&)>& sees,
                 const MemoryOf& memory_of);

std::string_view name(Standing standing);                      ///< "well", "degraded", "down"
std::string_view name(EndpointStatus::State state);            ///< "up", "down", "unknown"
std::string_view name(process::WorkerReport::State state);     ///< "starting", "ready", "leaving"
std::string_view name(process::DeployReport::State state);     ///< "running", "done", "failed"
std::string_view name(process::CompanionReport::State state);  ///< "waiting", "running", "stopping"
std::string_view name(process::ServiceReport::State state);    ///< "sleeping" and so on

}  // namespace portico::run
