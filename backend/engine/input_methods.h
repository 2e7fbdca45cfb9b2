// What the two kinds of wsgi.input have in common: their arguments, and the methods that say what
// kind of file they are.
//
// Helpers of input.cc and feed_input.cc; all need the GIL.
#pragma once

#include <cstdint>

#include "backend/engine/python.h"

namespace portico::engine {

/// How many bytes a size argument means, at most `left`: all of these when it is absent, None or
/// negative. False with an exception.
bool asked_bytes(PyObject* const* args, Py_ssize_t count, std::uint64_t left,
                 std::uint64_t& wanted);

/// A flat memoryview of a writable buffer, and its size; null with an exception. (Without
/// Py_buffer, which the stable ABI of 3.8 lacks.)
Ref flat_view(PyObject* buffer, std::size_t& size);
/// Puts the bytes at the view's front. Returns their number as an int, or null with an exception.
PyObject* put_into(PyObject* view, PyObject* bytes);

/// RuntimeError: the request has ended. Returns null.
PyObject* raise_dead_input();

PyObject* input_true(PyObject*, PyObject*);
PyObject* input_false(PyObject*, PyObject*);
PyObject* input_close(PyObject*, PyObject*);
PyObject* input_iter(PyObject* self);
PyObject* input_closed(PyObject*, void*);

}  // namespace portico::engine
