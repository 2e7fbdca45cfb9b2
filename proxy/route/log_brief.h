// The text of one access-log line for somebody who watches: short, with or without colours. Pure.
//
// portico.yaml(5), "brief" and "pretty". Safe on a terminal whatever a client sends.
#pragma once

#include <string>

#include "proxy/route/log_line.h"
#include "proxy/serve/exchange.h"

namespace portico::route {

enum class Colours : bool { no, yes };

/// Appends "12:00:00 200 GET /path 1.2 KiB 3 ms", then the cause where it failed; without a line's
/// end.
void append_brief(std::string& out, const serve::Exchange& exchange, WallTime began,
                  Colours colours);

}  // namespace portico::route
