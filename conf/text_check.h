// Whether a text may be given to a YAML reader at all: its size, its encoding, its characters.
//
// Pure; any thread. Keeps NULs, control characters and broken UTF-8 out of every later message,
// path and environment.
#pragma once

#include <optional>
#include <string_view>

#include "conf/yaml.h"

namespace portico::conf {

/// The first thing wrong with the text's bytes: longer than longest_text, not UTF-8 (RFC 3629), or
/// a control character other than tab, carriage return and line feed.
std::optional<YamlProblem> check_text(std::string_view text);

/// Whether `text` is UTF-8 (RFC 3629), whatever its characters.
bool is_utf8(std::string_view text);

}  // namespace portico::conf
