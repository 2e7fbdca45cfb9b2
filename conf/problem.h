// A place in the operator's files, and what is wrong there.
//
// Values, made by conf/load and conf/check and printed by the commands. The form
// `file:line:column: what, and what to write instead` is fixed: editors jump to it.
// Owned by whoever asked for the check; no thread is bound to them.
#pragma once

#include <cstdint>
#include <string>

namespace portico::conf {

/// Where in the configuration something stands. Lines and columns count from 1; line 0 means
/// "nowhere in a file" (a default, or the command line).
///
/// A place is no part of a value: two configurations that differ only in places are equal, hence
/// the comparison that is always true.
struct Position {
  std::string file;
  unsigned line = 0;
  unsigned column = 0;

  friend bool operator==(const Position&, const Position&) { return true; }
};

/// error: the configuration cannot be used. warning: it can, but something will not work on this
/// machine as it is now (conf/check).
enum class Severity : std::uint8_t { error, warning };

/// One thing to mend. `what` is one sentence that ends with what to write instead.
struct Problem {
  Position where;
  std::string what;
  Severity severity = Severity::error;
};

/// "file:line:column: what" ("file: what" where there is no line; "warning: " before a warning).
std::string text(const Problem& problem);

}  // namespace portico::conf
