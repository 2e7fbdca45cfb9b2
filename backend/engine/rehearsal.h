// Calls an application without any channel: to warm a zygote before it forks, and to measure the
// engine's own work.
//
// A Python function for the module's table; the calling thread does everything, under the GIL.
#pragma once

#include "backend/engine/python.h"

namespace portico::engine {

/// rehearse(application, constants, record, count) -> the frames of the last call, as bytes.
/// record  a record's bytes, its body inline; cell and serial are ignored (and 0 in the frames)
/// An application that raises SystemExit or its like ends the rehearsal early.
PyObject* rehearse(PyObject* module, PyObject* args);

}  // namespace portico::engine
