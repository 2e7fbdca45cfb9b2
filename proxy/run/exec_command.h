// The command `portico exec`: becomes another command, as a site's processes would run it.
//
// Reads the file; nothing needs to run. Main's thread. portico(8), "exec".
#pragma once

#include <string>
#include <vector>

#include "conf/config.h"
#include "proxy/process/identity.h"
#include "proxy/run/options.h"

namespace portico::run {

/// The application meant by "shop.example" or "shop.example/blog": of that name, or the only one of
/// that site. Null: there is none, or there are several.
const conf::Application* application_meant(const conf::Config& config, const std::string& name);

/// What the application's processes have, and its interpreter: VIRTUAL_ENV where that is of a
/// virtual environment, and its directory first in PATH.
///
/// identity  whom the command becomes; null: it stays as we are
std::vector<std::string> exec_environment(const conf::Application& application,
                                          const process::Identity* identity);

/// Does not return when all goes well: then the command's status is ours. Returns 126 or 127 as
/// shells do where it cannot be executed, else exit_failed or exit_mistake.
int exec_command(const Options& options);

}  // namespace portico::run
