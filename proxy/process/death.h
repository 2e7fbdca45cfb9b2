// What a wait status says, in words for the log. Pure.
#pragma once

#include <string>

namespace portico::process {

/// "was killed by signal 9 (Killed)", "crashed with signal 11 (Segmentation fault)", "ended with
/// status 1"; reads on after the name of a process.
std::string describe_death(int wait_status);

}  // namespace portico::process
