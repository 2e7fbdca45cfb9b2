// The text of one access-log line, in each of the formats. Pure; any thread.
//
// Rules: Apache's mod_log_config (common, combined), portico.yaml(5) (json). Nothing that a client
// sends can forge a line or a field of one: see log_text.h.
#pragma once

#include <chrono>
#include <string>

#include "conf/config.h"
#include "proxy/serve/exchange.h"

namespace portico::route {

using WallTime = std::chrono::system_clock::time_point;

/// Appends a line without its end. `began` is the time of day of trace().started.
///
/// common    %h %l %u %t \"%r\" %>s %b
/// combined  the same, then \"%{Referer}i\" \"%{User-agent}i\"
/// json      one object; times are seconds, null where that stage was not reached:
///           total, queue (head complete to handed over), connect (from there to a connection),
///           first_byte (from there to the head of the answer)
/// brief, pretty  log_brief.h
/// Where no answer was sent the status is 499, as nginx has it.
void append_line(std::string& out, conf::LogFormat format, const serve::Exchange& exchange,
                 WallTime began);

}  // namespace portico::route
