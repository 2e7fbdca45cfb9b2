// Calls in the front's own thread: the engine's side of record/direct.h.
//
// One application a process (open_direct, by the interpreter's main thread); afterwards the front's
// thread calls. An answer that is not given at once keeps its call, with a Caller of its own, until
// it is resumed.
#pragma once

#include "backend/engine/python.h"
#include "backend/record/direct.h"

namespace portico::engine {

/// open_direct(application, constants, cells): from now on portico_direct may be used.
PyObject* open_direct(PyObject* module, PyObject* args);

}  // namespace portico::engine

extern "C" __attribute__((visibility("default"))) const portico::record::Direct portico_direct;
