// What the user that the front and the workers become may do with a file.
//
// Computed from modes and groups instead of trying it: the check runs as root, who may everything.
// Access control lists are not read, so that an answer can be too strict there. Looks at the
// machine; the supervisor's thread or the check command's.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "conf/config.h"

namespace portico::conf {

/// A user as the kernel sees it.
struct Identity {
  std::string name;
  uid_t uid = 0;
  std::vector<gid_t> groups;
  bool is_known = true;  ///< false: no such user on this machine
};

/// Whom the front becomes: as root Config::user, or "portico", or "nobody"; else whoever runs this.
Identity front_identity(const Config& config);
/// Whom the workers of an application become: as root its `user`, else as the front.
Identity application_identity(const Config& config, const Application& application);
/// Whether somebody but root asks for workers of another user than himself.
bool asks_too_much(const Application& application);

enum class Right : std::uint8_t { enter = 1, write = 2, read = 4 };

/// Whether the user has the right to the file and may reach it: every directory above can be
/// entered. `path` is absolute; symbolic links are followed.
bool may(const Identity& user, const std::string& path, Right right);

}  // namespace portico::conf
