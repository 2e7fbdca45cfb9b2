// Stacks: asks a process of the site's Python for the stack of each of its threads.
//
// Used by an ApplicationService, in the supervisor's thread. The process writes them to its
// standard error, and so to the site's log; faulthandler does it in the signal's handler, without
// the GIL.
#pragma once

#include <sys/types.h>

namespace portico::backend {

/// Sends record::stack_signal() to one thread, whose stack is then called the current one.
///
/// pid  a process that is known to be ours
/// tid  a thread of it; one that is not of it, or 0: any thread
/// Returns  false when the process does not catch the signal, which would kill it, and is left
///          alone
bool ask_for_stacks(pid_t pid, pid_t tid);

}  // namespace portico::backend
