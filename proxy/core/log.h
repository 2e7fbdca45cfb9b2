// The process's own log, on standard error; and how text is made harmless for any log.
//
// From any thread. A line is written at once, by whoever says it; while a LogThread lives
// (log_thread.h), by that, so that a reader who does not read stalls nobody.
#pragma once

#include <string>
#include <string_view>

#include "proxy/core/result.h"

namespace portico::core {

class LogFile;

/// The process's own log: lines "2026-01-31T12:00:00.123Z level text" to standard error, from any
/// thread. Control characters in `text` are escaped.
void log(Level level, std::string_view text);
enum class LogStyle : bool {
  full,
  brief,  ///< for somebody who watches: "12:00:00 text", local time; the level of what is amiss
          ///< only
};
void log_style(LogStyle style);  ///< full by default
void log_level(Level least);     ///< what is below is not written; info by default
void log_into(LogFile* file);    ///< in place of standard error; null: there, as by default

/// Escapes what must not stand raw in a log: controls (C1 too), quotes, backslashes, marks that
/// turn the text's direction, and bytes that are not UTF-8.
void append_escaped(std::string& out, std::string_view text);

}  // namespace portico::core
