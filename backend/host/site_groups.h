// SiteGroups: the control groups of the applications of a configuration that have `resources`.
//
// Owned by HostOptions, in the supervisor; its thread. Made before anything is started, since the
// supervisor itself moves then; the groups stay as long as the supervisor, whatever runs in them.
// Where a limit cannot be in force the application runs without, and the problem is told.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "conf/config.h"
#include "conf/problem.h"
#include "proxy/process/cgroup.h"
#include "proxy/process/cgroup_place.h"
#include "proxy/process/cgroup_tree.h"
#include "proxy/process/memory_kills.h"
#include "proxy/process/report.h"

namespace portico::backend {

class SiteGroups {
 public:
  /// place  left as it is where no application asks for limits
  explicit SiteGroups(const conf::Config& config,
                      const process::CgroupPlace& place = process::own_cgroup_place());
  SiteGroups() = default;

  /// The entrance of its group, as process::Command has it.
  int entrance(const std::string& application) const;
  /// Who explains the deaths of its processes.
  process::MemoryKills memory_kills(const std::string& application) const;
  /// None: it asks for no limit.
  std::optional<process::ResourceReport> report(const std::string& application) const;

 private:
  struct Site {
    std::optional<process::Cgroup> group;
    std::string problem;
  };

  Site make(const conf::Application& application) const;
  const process::Cgroup* find(const std::string& application) const;

  std::unique_ptr<process::CgroupTree> tree_;  // before the groups in it
  std::string problem_;                        // why there is none
  std::map<std::string, Site> sites_;          // by the name of the application
};

/// Which `resources` this machine cannot limit: `portico check`. What only the service manager
/// decides when it starts Portico is left out. All are warnings.
std::vector<conf::Problem> check_resources(const conf::Config& config);

}  // namespace portico::backend
