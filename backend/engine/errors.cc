#include "backend/engine/errors.h"

#include <cstring>
#include <new>

#include "backend/engine/report.h"
#include "backend/record/buffer.h"

namespace portico::engine {
namespace {

/// A longer line is written in parts, so that a stream without line ends cannot grow without
/// bounds.
constexpr std::size_t longest_line = std::size_t{16} * 1024;

struct Errors {
  PyObject head;
  std::string_view request_id;
  record::Buffer line;  ///< the unfinished one
};

PyTypeObject* errors_type;

void append_line(record::Buffer& out, std::string_view request_id, std::string_view begun,
                 std::string_view rest) {
  if (!request_id.empty()) {
    out.append("[");
    out.append(request_id);
    out.append("] ");
  }
  out.append(begun);
  out.append(rest);
  out.append("\n");
}

/// Writes all whole lines in one call, keeps the rest.
void take_text(Errors* errors, std::string_view text) {
  record::Buffer out;
  while (const void* found = std::memchr(text.data(), '\n', text.size())) {
    std::size_t length = static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
    append_line(out, errors->request_id, errors->line.view(), {text.data(), length});
    errors->line.clear();
    text.remove_prefix(length + 1);
  }
  errors->line.append(text);
  if (errors->line.size() > longest_line) {
    append_line(out, errors->request_id, errors->line.view(), {});
    errors->line.clear();
    errors->line.trim(longest_line);
  }
  write_stderr(out.view());
}

PyObject* errors_write(PyObject* self, PyObject* text) {
  if (!PyUnicode_Check(text))
    return PyErr_Format(PyExc_TypeError, "wsgi.errors takes str, not %R", Py_TYPE(text));
  Ref bytes = Ref::steal(PyUnicode_AsEncodedString(text, "utf-8", "backslashreplace"));
  if (!bytes) return nullptr;
  if (PyBytes_Size(bytes.get()) > 0)
    take_text(reinterpret_cast<Errors*>(self), bytes_of(bytes.get()));
  return PyLong_FromSsize_t(PyUnicode_GetLength(text));
}

PyObject* errors_writelines(PyObject* self, PyObject* lines) {
  Ref iterator = Ref::steal(PyObject_GetIter(lines));
  while (iterator) {
    Ref line = Ref::steal(PyIter_Next(iterator.get()));
    if (!line) break;
    Ref written = Ref::steal(errors_write(self, line.get()));
    if (!written) return nullptr;
  }
  if (PyErr_Occurred() != nullptr) return nullptr;
  Py_RETURN_NONE;
}

PyObject* errors_nothing(PyObject*, PyObject*) { Py_RETURN_NONE; }

PyObject* errors_false(PyObject*, PyObject*) { return PyBool_FromLong(0); }

PyObject* errors_true(PyObject*, PyObject*) { return PyBool_FromLong(1); }

PyObject* errors_fileno(PyObject*, PyObject*) { return PyLong_FromLong(2); }

PyObject* errors_text(PyObject*, void* text) {
  return PyUnicode_FromString(static_cast<const char*>(text));
}

PyObject* errors_closed(PyObject*, void*) { return PyBool_FromLong(0); }

void errors_dealloc(PyObject* self) {
  reinterpret_cast<Errors*>(self)->line.~Buffer();
  free_instance(self);
}

PyMethodDef methods[] = {
    {"write", as_method(errors_write), METH_O, "write(text): the number of characters"},
    {"writelines", as_method(errors_writelines), METH_O, "writelines(texts)"},
    {"flush", as_method(errors_nothing), METH_NOARGS, "does nothing: whole lines are out already"},
    {"close", as_method(errors_nothing), METH_NOARGS, "does nothing: the stream is the server's"},
    {"isatty", as_method(errors_false), METH_NOARGS, "False"},
    {"writable", as_method(errors_true), METH_NOARGS, "True"},
    {"fileno", as_method(errors_fileno), METH_NOARGS, "2"},
    {nullptr, nullptr, 0, nullptr},
};

char encoding_text[] = "utf-8";
char errors_mode[] = "backslashreplace";

PyGetSetDef attributes[] = {
    {"encoding", errors_text, nullptr, nullptr, encoding_text},
    {"errors", errors_text, nullptr, nullptr, errors_mode},
    {"closed", errors_closed, nullptr, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

PyType_Slot slots[] = {
    {Py_tp_dealloc, as_slot(errors_dealloc)},
    {Py_tp_methods, methods},
    {Py_tp_getset, attributes},
    {0, nullptr},
};

PyType_Spec spec = {"_portico.Errors", sizeof(Errors), 0, Py_TPFLAGS_DEFAULT, slots};

}  // namespace

bool make_errors_type() {
  errors_type = make_type(spec);
  return errors_type != nullptr;
}

PyObject* new_errors() { return reinterpret_cast<PyObject*>(new_instance<Errors>(errors_type)); }

void begin_errors(PyObject* errors, std::string_view request_id) {
  reinterpret_cast<Errors*>(errors)->request_id = request_id;
}

void end_errors(PyObject* self) {
  Errors* errors = reinterpret_cast<Errors*>(self);
  if (!errors->line.empty()) take_text(errors, "\n");
  errors->request_id = {};
}

}  // namespace portico::engine
