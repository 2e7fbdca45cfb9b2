// Limits: what this process may use, and what it gives up. Called once, early, in main; one thread.
//
// The supervisor raises the number of open files; the front gives up privileges, dumps and its life
// after the supervisor's.
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "proxy/core/result.h"

namespace portico::process {

/// Raises the soft limit of open files to the hard one. Returns the limit in force.
std::uint64_t raise_open_files();

/// No core dumps, not attachable by others of the same user (PR_SET_DUMPABLE 0): memory holds keys.
void forbid_dumps();

/// Nothing that is executed from here on gains privileges by its set-user-ID bit or capabilities.
void forbid_new_privileges();

/// The kernel sends `signal` to this process when its parent dies; lost at a change of credentials,
/// so call it after the last one. False: `parent` has died already.
bool die_with(pid_t parent, int signal);

/// Orphans among our descendants become our children (PR_SET_CHILD_SUBREAPER).
void adopt_orphans();

void ignore_signal(int signal);

}  // namespace portico::process
