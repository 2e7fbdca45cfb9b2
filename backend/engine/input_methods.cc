#include "backend/engine/input_methods.h"

#include <algorithm>

namespace portico::engine {

bool asked_bytes(PyObject* const* args, Py_ssize_t count, std::uint64_t left,
                 std::uint64_t& wanted) {
  wanted = left;
  if (count > 1) return raise(PyExc_TypeError, "at most one argument expected") != nullptr;
  if (count == 0 || args[0] == Py_None) return true;
  Py_ssize_t asked = PyNumber_AsSsize_t(args[0], PyExc_OverflowError);
  if (asked == -1 && PyErr_Occurred() != nullptr) return false;
  if (asked >= 0) wanted = std::min(left, static_cast<std::uint64_t>(asked));
  return true;
}

Ref flat_view(PyObject* buffer, std::size_t& size) {
  Ref view = Ref::steal(PyMemoryView_FromObject(buffer));
  Ref flat = view ? Ref::steal(PyObject_CallMethod(view.get(), "cast", "s", "B")) : Ref();
  if (!flat) return flat;
  Py_ssize_t room = PyObject_Size(flat.get());
  if (room < 0) return {};
  size = static_cast<std::size_t>(room);
  return flat;
}

PyObject* put_into(PyObject* view, PyObject* bytes) {
  Ref stop = Ref::steal(PyLong_FromSsize_t(PyBytes_Size(bytes)));
  Ref slice = stop ? Ref::steal(PySlice_New(nullptr, stop.get(), nullptr)) : Ref();
  if (!slice || PyObject_SetItem(view, slice.get(), bytes) < 0) return nullptr;
  return stop.release();
}

PyObject* raise_dead_input() {
  return raise(PyExc_RuntimeError, "wsgi.input was used after the end of its request");
}

PyObject* input_true(PyObject*, PyObject*) { return PyBool_FromLong(1); }

PyObject* input_false(PyObject*, PyObject*) { return PyBool_FromLong(0); }

PyObject* input_close(PyObject*, PyObject*) { Py_RETURN_NONE; }

PyObject* input_iter(PyObject* self) {
  Py_INCREF(self);
  return self;
}

PyObject* input_closed(PyObject*, void*) { return PyBool_FromLong(0); }

}  // namespace portico::engine
