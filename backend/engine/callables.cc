#include "backend/engine/callables.h"

namespace portico::engine {
namespace {

/// The `self` of all callables.
struct State {
  PyObject head;
  Answer* answer;   ///< null: the request is over
  PyObject* write;  ///< borrowed from the slot; null likewise
};

PyTypeObject* state_type;

State* state_of(PyObject* self) { return reinterpret_cast<State*>(self); }

struct Arguments {
  PyObject* status = nullptr;
  PyObject* headers = nullptr;
  PyObject* exc_info = nullptr;
};

bool place_keyword(PyObject* name, PyObject* value, Arguments& arguments) {
  PyObject** place = nullptr;
  if (PyUnicode_CompareWithASCIIString(name, "status") == 0) place = &arguments.status;
  if (PyUnicode_CompareWithASCIIString(name, "headers") == 0) place = &arguments.headers;
  if (PyUnicode_CompareWithASCIIString(name, "response_headers") == 0) place = &arguments.headers;
  if (PyUnicode_CompareWithASCIIString(name, "exc_info") == 0) place = &arguments.exc_info;
  if (place == nullptr || *place != nullptr) return false;
  *place = value;
  return true;
}

/// Sorts the arguments; false with a TypeError.
bool sort_arguments(PyObject* const* args, Py_ssize_t count, PyObject* keywords,
                    Arguments& arguments) {
  PyObject** places[] = {&arguments.status, &arguments.headers, &arguments.exc_info};
  bool sound = count <= 3;
  for (Py_ssize_t i = 0; i < count && sound; ++i) *places[i] = args[i];
  Py_ssize_t named = keywords != nullptr ? PyTuple_Size(keywords) : 0;
  for (Py_ssize_t i = 0; i < named && sound; ++i)
    sound = place_keyword(PyTuple_GetItem(keywords, i), args[count + i], arguments);
  if (sound && arguments.status != nullptr && arguments.headers != nullptr) return true;
  raise(PyExc_TypeError, "start_response takes status, headers and optionally exc_info");
  return false;
}

PyObject* start_response(PyObject* self, PyObject* const* args, Py_ssize_t count,
                         PyObject* keywords) {
  State* state = state_of(self);
  if (state->answer == nullptr)
    return raise(PyExc_RuntimeError, "start_response was called after the end of its request");
  Arguments arguments;
  if (!sort_arguments(args, count, keywords, arguments)) return nullptr;
  if (!state->answer->start(arguments.status, arguments.headers, arguments.exc_info))
    return nullptr;
  Py_INCREF(state->write);
  return state->write;
}

PyObject* write(PyObject* self, PyObject* data) {
  State* state = state_of(self);
  if (state->answer == nullptr)
    return raise(PyExc_RuntimeError, "write() was called after the end of its request");
  if (!state->answer->write(data)) return nullptr;
  Py_RETURN_NONE;
}

PyObject* early_hints(PyObject* self, PyObject* headers) {
  State* state = state_of(self);
  if (state->answer == nullptr)
    return raise(PyExc_RuntimeError, "wsgi.early_hints was called after the end of its request");
  if (!state->answer->hint(headers)) return nullptr;
  Py_RETURN_NONE;
}

PyObject* client_disconnected(PyObject* self, PyObject*) {
  State* state = state_of(self);
  return PyBool_FromLong(state->answer == nullptr || state->answer->disconnected());
}

PyMethodDef start_definition = {"start_response", as_method(start_response),
                                method_fastcall | METH_KEYWORDS,
                                "start_response(status, headers[, exc_info]): write"};
PyMethodDef write_definition = {"write", as_method(write), METH_O, "write(data)"};
PyMethodDef hints_definition = {"early_hints", as_method(early_hints), METH_O,
                                "early_hints(headers): sends a 103"};
PyMethodDef disconnected_definition = {
    "client_disconnected", as_method(client_disconnected), METH_NOARGS,
    "client_disconnected(): whether nobody waits for the answer any more"};

PyType_Slot slots[] = {
    {Py_tp_dealloc, as_slot(free_instance)},
    {0, nullptr},
};

PyType_Spec spec = {"_portico.Callables", sizeof(State), 0, Py_TPFLAGS_DEFAULT, slots};

}  // namespace

bool make_callables_type() {
  state_type = make_type(spec);
  return state_type != nullptr;
}

bool Callables::make() {
  state_ = Ref::steal(reinterpret_cast<PyObject*>(new_instance<State>(state_type)));
  if (!state_) return false;
  start_ = Ref::steal(PyCFunction_NewEx(&start_definition, state_.get(), nullptr));
  write_ = Ref::steal(PyCFunction_NewEx(&write_definition, state_.get(), nullptr));
  hints_ = Ref::steal(PyCFunction_NewEx(&hints_definition, state_.get(), nullptr));
  disconnected_ = Ref::steal(PyCFunction_NewEx(&disconnected_definition, state_.get(), nullptr));
  return start_ && write_ && hints_ && disconnected_;
}

bool Callables::begin(Answer& answer) {
  if (!disconnected_ && !make()) return false;
  State* state = state_of(state_.get());
  state->answer = &answer;
  state->write = write_.get();
  return true;
}

bool Callables::is_kept() const {
  for (const Ref* callable : {&start_, &write_, &hints_, &disconnected_}) {
    if (references(callable->get()) > 1) return true;
  }
  return false;
}

void Callables::end() {
  if (!disconnected_) return;
  State* state = state_of(state_.get());
  state->answer = nullptr;
  state->write = nullptr;
  if (!is_kept()) return;
  start_ = {};
  write_ = {};
  hints_ = {};
  disconnected_ = {};
  state_ = {};
}

}  // namespace portico::engine
