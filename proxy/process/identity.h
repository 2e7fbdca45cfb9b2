// Identity: the user and groups that a process runs as.
//
// Looked up in the supervisor or the front at a start; any thread. become() is for processes that
// change themselves; spawn() does the same for a child between fork and exec.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "proxy/core/result.h"

namespace portico::process {

struct Identity {
  uid_t user = 0;
  gid_t group = 0;
  std::vector<gid_t> groups;  ///< supplementary ones; may contain `group`
  std::string name;
  std::string home;

  friend bool operator==(const Identity&, const Identity&) = default;
};

/// The user of that name with the groups that the system's data base gives it.
/// Errors: Fault::internal, "looking up the user"; os is 0 when there is no such user.
core::Result<Identity> find_identity(const std::string& user);

/// The user named, or else "portico" where that user exists, else "nobody": config.h, Config::user.
core::Result<Identity> front_identity(const std::string& user);

bool started_as_root();

/// Changes this process for good (all three of real, effective and saved ids), and checks that
/// there is no way back. Call it while there is one thread. The death signal is lost: see
/// die_with().
core::Result<void> become(const Identity& identity);

/// The steps of become() in their order; async-signal-safe. Null: done; else the step that failed,
/// with errno.
const char* change_identity(uid_t user, gid_t group, const gid_t* groups, std::size_t count);

}  // namespace portico::process
