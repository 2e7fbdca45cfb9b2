// wsgi.errors: a text stream that takes any str without raising and writes whole lines to standard
// error.
//
// One object a worker thread, in the constants of its environ; used under the GIL. Lines of a
// request carry its id. Source: PEP 3333 "Input and Error Streams".
#pragma once

#include <string_view>

#include "backend/engine/python.h"

namespace portico::engine {

/// Makes the type; false with an exception.
bool make_errors_type();

/// A new stream, or null with an exception.
PyObject* new_errors();

/// Begins a request: lines are tagged with the id, whose bytes must last until end_errors.
void begin_errors(PyObject* errors, std::string_view request_id);
/// Ends it: an unfinished line is written out.
void end_errors(PyObject* errors);

}  // namespace portico::engine
