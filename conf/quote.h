// Text as a double-quoted YAML scalar.
//
// A pure function; any thread.
#pragma once

#include <string>
#include <string_view>

namespace portico::conf {

/// UTF-8 text in double quotes that any YAML reader takes back to the same bytes.
/// Source YAML 1.2 §5.7 (escape sequences).
std::string yaml_quote(std::string_view text);

}  // namespace portico::conf
