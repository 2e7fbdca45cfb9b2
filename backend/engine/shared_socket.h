// A socket that processes must not share: one that listens or is connected, and whose bytes are a
// stream. Asked by audit.py about what an import has left open.
//
// A Python function for the module's table; called by the zygote's main thread.
#pragma once

#include "backend/engine/python.h"

namespace portico::engine {

/// describe_shared(fd): "descriptor 7, which is connected to 127.0.0.1:5432", or None: it may be
/// shared. So may a datagram socket, as that of a logger: each message goes out whole.
PyObject* describe_shared(PyObject* module, PyObject* args);

}  // namespace portico::engine
