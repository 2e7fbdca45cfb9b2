// wsgi.input: the request's body as a file, over the record's own memory or over the spooled file's
// descriptor.
//
// One object a worker thread, used again for the next request unless the application has kept it: a
// kept one is dead and says so. Reads never wait: the body is whole before the hand-over. Source:
// PEP 3333 "Input and Error Streams".
#pragma once

#include <cstddef>
#include <cstdint>

#include "backend/engine/python.h"
#include "backend/record/record.h"

namespace portico::engine {

/// Makes the type; false with an exception.
bool make_input_type();

/// The worker thread's handle on its wsgi.input object.
class InputSlot {
 public:
  /// Points the object at a record's body. `descriptor` is owned by the caller and must outlive
  /// end(); -1 when the body is not in a file. Returns a borrowed reference, or null with an
  /// exception.
  PyObject* begin(const record::Record& record, int descriptor);
  /// Ends the request: whatever the application has kept is dead from now on.
  void end();

 private:
  Ref object_;
};

}  // namespace portico::engine
