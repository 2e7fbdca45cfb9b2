// Spawn: starts a process of ours in a session of its own, with what it is given and nothing else.
//
// Used by the supervisor for the front and by backend/host for zygotes; the calling thread must
// live as long as the child, since the kernel ties the child's death signal to that thread.
// Design §7 ("Children of ours run in sessions of their own") rules it.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "proxy/core/result.h"
#include "proxy/process/identity.h"

namespace portico::process {

/// A borrowed descriptor and the number that it has in the child.
struct Given {
  int fd = -1;
  int number = -1;
};

/// What is started, and as what.
struct Command {
  std::string path;                      ///< the executable; PATH is not searched
  std::vector<std::string> arguments;    ///< argv, with argv[0]
  std::vector<std::string> environment;  ///< "NAME=value"; nothing is inherited
  std::string directory;  ///< working directory, entered as the child's user; empty: ours
  /// Descriptors of the child. Standard input is /dev/null unless it is among them; standard output
  /// and standard error are ours unless they are; no other descriptor reaches the child.
  std::vector<Given> fds;
  std::optional<Identity> identity;         ///< whom the child becomes; none: it stays as we are
  std::optional<mode_t> umask;              ///< none: ours
  std::optional<std::uint64_t> open_files;  ///< soft limit of descriptors; none: ours
  std::optional<std::uint64_t> processes;   ///< of the child's user, threads included; none: ours
  int group = -1;  ///< entrance of a control group (cgroup.h), borrowed; -1: that which we are in
  int oom_score = 0;  ///< added to ours: who dies first when memory runs out (oom_score_adj)
  int death_signal = SIGKILL;  ///< what the child gets when the calling thread dies
};

/// Starts `command`: new session, signals as the kernel gives them to a fresh process, no core
/// dumps, no_new_privs.
///
/// Returns  the child's process id, once the program has been executed
/// Errors   Fault::internal with errno; `doing` names the step ("entering the directory",
///          "executing the program"). The child is reaped then.
core::Result<pid_t> spawn(const Command& command);

/// Our own environment as spawn takes it, without the names given.
std::vector<std::string> environment_without(const std::vector<std::string>& names);

}  // namespace portico::process
