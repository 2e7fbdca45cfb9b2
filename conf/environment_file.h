// The file of an application's secrets (`environment_file`): lines NAME=value.
//
// Parsing is pure; reading looks at the machine: the supervisor does it as root, at each start of
// the application, and the check command. What stands in it is never logged: a problem names the
// line and the rule, not the text.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "conf/outcome.h"

namespace portico::conf {

using Variables = std::vector<std::pair<std::string, std::string>>;

/// A larger one is no list of settings.
inline constexpr std::size_t longest_environment_file = std::size_t{256} * 1024;

/// Empty lines and lines that begin with "#" or ";" say nothing. "export " before a name is passed
/// over, blanks around name and value do not count, and a value may stand in single or double
/// quotes; nothing in it is interpreted.
///
/// name  of the file, for the problem: "NAME:LINE: what, and what to write instead"
/// Source: systemd.exec(5), EnvironmentFile, less its escapes and continued lines
Outcome<Variables> parse_environment(std::string_view text, const std::string& name);

/// Reads and parses the file at this path.
Outcome<Variables> read_environment_file(const std::string& path);

}  // namespace portico::conf
