// The environment of a process that runs an application: what the operator wrote, and of ours only
// what is the machine's: where programs are, the language, the time zone.
//
// For zygotes, and for a front that has an application embedded. Pure but for reading our own
// environment; any thread.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "conf/config.h"
#include "proxy/process/identity.h"

namespace portico::process {

/// wanted    variables in order of writing; of two of a name the first counts, and they come before
///           ours
/// identity  whom the process becomes: HOME, USER and LOGNAME, unless written; null: it stays as we
///           are, and so do these
/// Returns   "NAME=value", as spawn takes it
std::vector<std::string> application_environment(
    const std::vector<std::pair<std::string, std::string>>& wanted, const Identity* identity);

/// Makes it that of a site's commands, as activating the site's virtual environment does: the
/// folder of its Python is first in PATH; where that is a virtual one, VIRTUAL_ENV too.
///
/// Returns  the new PATH
std::string activate(std::vector<std::string>& environment, const conf::Application& application);

}  // namespace portico::process
