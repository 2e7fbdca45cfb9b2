// What the engine writes to standard error: tracebacks and one-line messages, each in one write.
//
// The supervisor reads standard error and tags each line with site and pid; the request's id,
// method and path are added here. Nothing in this file raises, exits or blocks on anything but file
// descriptor 2.
#pragma once

#include <string_view>

#include "backend/engine/python.h"
#include "backend/record/record.h"

namespace portico::engine {

/// What is written goes to this descriptor from now on, in place of 2.
void report_to(int descriptor);

/// Writes text to file descriptor 2, or where report_to() said; what cannot be written is lost.
void write_stderr(std::string_view text);

/// "[id] METHOD target: message", one line. `record` may be null.
void report(const record::Record* record, const char* message);

/// Takes the exception that is set, clears it, and writes "[id] METHOD target: what" with its
/// traceback. Never PyErr_Print: that ends the process on a SystemExit. Returns true when it is not
/// an Exception (SystemExit, KeyboardInterrupt ...): the worker must leave.
bool report_exception(const record::Record* record, const char* what);

/// The same in one line, "[id] METHOD target: what: text of the exception", for what is nobody's
/// mistake. Only of an Exception.
void report_briefly(const record::Record* record, const char* what);

}  // namespace portico::engine
