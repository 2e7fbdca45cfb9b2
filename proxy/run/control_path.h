// Where the control socket of a configuration is: the same answer for the supervisor, which makes
// it, and for the commands that speak to it.
#pragma once

#include <string>

#include "conf/config.h"

namespace portico::run {

/// The absolute path; "" when the configuration has `control: "off"`.
///
/// As written; else control.sock in run_directory for root, and for everybody who has written a
/// run_directory; else in $XDG_RUNTIME_DIR/portico; else in /tmp/portico-UID.
std::string control_path(const conf::Config& config);

/// Where to look for a Portico that runs already: control_path(), unless nothing is there and
/// root's is, as for the user of a site.
std::string control_path_to_ask(const conf::Config& config);

}  // namespace portico::run
