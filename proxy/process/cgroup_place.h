// CgroupPlace: where in the tree of control groups (cgroup v2) we stand, and which part of it has
// been left to us to divide (systemd: Delegate=yes).
//
// Looked up by the supervisor at a start and by `portico check`; looks only. Source: cgroups(7),
// and systemd's "Control Group APIs and Delegation": nobody else may write below what systemd
// manages.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace portico::process {

struct CgroupPlace {
  std::string top;         ///< the whole tree as we see it; empty: there is none
  std::string home;        ///< the group that we are in
  std::string base;        ///< the group that is ours to divide: home, or what is above it
  std::string problem;     ///< why nothing is ours, and what to do; empty: base is
  bool is_certain = true;  ///< false: what we are started as might have changed that
};

/// What the kernel offers there, of memory, pids and cpu: cgroup.controllers.
std::vector<std::string> cgroup_controllers(const std::string& directory);

/// top and home by the texts of /proc/self/cgroup and /proc/self/mountinfo. Pure.
CgroupPlace cgroup_place(std::string_view memberships, std::string_view mounts);

/// That of this process.
CgroupPlace own_cgroup_place();

}  // namespace portico::process
