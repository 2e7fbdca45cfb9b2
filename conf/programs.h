// The programs that the commands of a site name: where they are looked for, and which are not
// there.
//
// One search for all that is started for a site: before_deploy, processes, portico exec, and the
// check that looks beforehand. Looks at the machine; any thread. portico.yaml(5), "before_deploy".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "conf/config.h"
#include "conf/problem.h"
#include "conf/rights.h"

namespace portico::conf {

/// PATH for an application's commands: the folder of its Python first, as after activating its
/// virtual environment, then `path` (its own PATH, or the machine's).
std::string command_path(const Application& application, std::string_view path);

/// The program that a command's first word means.
///
/// path     what command_path() made
/// Returns  the application's Python for "python" and "python3"; for a word with a slash that path,
///          from the application's directory on, whether it is there or not; else the first
///          executable file in `path`; empty: there is none
std::string find_program(const Application& application, const std::string& word,
                         std::string_view path);

/// Those of before_deploy and processes that cannot be run by `user`, as warnings.
std::vector<Problem> missing_programs(const Application& application, const Identity& user);

}  // namespace portico::conf
