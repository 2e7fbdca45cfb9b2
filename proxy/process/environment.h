// The environment of a process that runs an application: ours, without what a service manager says
// to Portico, and with what the operator wrote.
//
// For zygotes, and for a front that has an application embedded. Pure but for reading our own
// environment; any thread.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "proxy/process/identity.h"

namespace portico::process {

/// added     variables in order of writing; they replace ours
/// identity  whom the process becomes: HOME, USER and LOGNAME, unless written; null: it stays as we
///           are
/// Returns   "NAME=value", as spawn takes it
std::vector<std::string> application_environment(
    std::vector<std::pair<std::string, std::string>> added, const Identity* identity);

}  // namespace portico::process
