// What a loaded configuration lacks on this machine: directories, interpreters, programs, files.
//
// Run by `portico check` and by the supervisor at a start, with the supervisor's rights, on its
// thread. Looks only; changes nothing. Nothing found here stops a start (design §8): the site
// concerned answers 503 with the cause.
#pragma once

#include <string>
#include <vector>

#include "conf/config.h"
#include "conf/problem.h"

namespace portico::conf {

/// The interpreter that runs an application, as an absolute path that need not exist.
///
/// Order: `python` as written (a directory is a virtual environment: its bin/python); .venv or venv
/// in the application's directory; python3 in PATH, as root the first that every user may run; else
/// "/usr/bin/python3". A command such as "python3.12" is looked for in PATH likewise.
std::string resolve_python(const Application& application);

/// Everything missing, with the place in the file that asks for it. All are warnings.
std::vector<Problem> check_machine(const Config& config);

}  // namespace portico::conf
