// Text of clients made safe for log lines: no byte of theirs can end a line, close a quotation or
// turn a terminal's line around. Pure; any thread.
#pragma once

#include <string>
#include <string_view>

namespace portico::route {

/// As Apache escapes in its common and combined formats (ap_escape_logitem): \" and \\, \b \n \r \t
/// \v, \xhh for every other byte that is not printable ASCII.
void append_apache(std::string& out, std::string_view text);

}  // namespace portico::route
