// What children of ours have left behind: processes of their session and of their group.
//
// A child that spawn() starts leads a session; whatever it or its children start belongs to it,
// unless it has gone out of its way. Used by services when such a child has ended; any thread.
#pragma once

#include <sys/types.h>

namespace portico::process {

/// Kills all of a process group at once, if one of its members is of that session: no fork escapes.
void kill_group(pid_t session, pid_t group);

/// Kills whatever is left of a session whose leader has ended.
void kill_session(pid_t session);

/// The session, the group and the parent of a process, as the kernel sees it; 0 where there is
/// none.
struct Kinship {
  pid_t parent = 0;
  pid_t group = 0;
  pid_t session = 0;
};
Kinship kinship_of(pid_t pid);

}  // namespace portico::process
