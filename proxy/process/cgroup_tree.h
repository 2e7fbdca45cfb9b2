// CgroupTree: our part of the tree of control groups, divided: a group for ourselves and the front,
// and beside it one for each application that is to have limits.
//
//   base/                      what was delegated to us; no process stays here (the kernel's rule)
//     portico-PID/
//       supervisor/            we, and what we start without an entrance
//       site-shop.example/     Cgroup
//
// Owned by backend/host in the supervisor; its thread. Outlives the groups in it. Made before
// anything is started. At the end we go back where we came from, and all of it is removed; what a
// supervisor that was killed has left behind, the next one removes.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "conf/config.h"
#include "proxy/core/result.h"
#include "proxy/process/cgroup.h"
#include "proxy/process/cgroup_place.h"

namespace portico::process {

class CgroupTree {
 public:
  /// Takes possession of the place and moves this process there.
  ///
  /// wanted   controllers: memory, pids, cpu
  /// problem  where there is no tree: why not, and what to do
  static std::unique_ptr<CgroupTree> make(const CgroupPlace& place,
                                          const std::vector<std::string>& wanted,
                                          std::string& problem);
  CgroupTree(const CgroupTree&) = delete;
  CgroupTree& operator=(const CgroupTree&) = delete;
  ~CgroupTree();

  /// Why the limits of a wanted controller are not in force; empty: they are.
  const std::string& problem_of(const std::string& controller) const {
    return problems_.at(controller);
  }
  /// application  its name, whatever stands in it
  core::Result<Cgroup> add(std::string_view application, const conf::Resources& limits) const;

 private:
  explicit CgroupTree(const CgroupPlace& place);
  bool move_in();
  bool move_out();
  void enable(const std::string& controller);

  CgroupPlace place_;
  std::string directory_;
  std::map<std::string, std::string> problems_;  // by controller; empty: in force
  std::vector<std::string> enabled_;             // in base, by us
};

/// The name of a group's directory for whatever an application is called: no slash, and none of the
/// kernel's own names.
std::string cgroup_name(std::string_view application);

/// Why a controller cannot be used, and what to do.
std::string missing_controller(const std::string& directory);

}  // namespace portico::process
