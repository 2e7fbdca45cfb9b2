#include "backend/engine/file_wrapper.h"

#include <sys/stat.h>

#include "backend/engine/names.h"

namespace portico::engine {
namespace {

constexpr Py_ssize_t default_block_bytes = 64 * 1024;

struct FileWrapper {
  PyObject head;
  PyObject* file;
  Py_ssize_t block_bytes;
};

PyTypeObject* wrapper_type;
PyObject* raw_type;              ///< io.FileIO
PyObject* buffered_reader_type;  ///< io.BufferedReader
PyObject* buffered_random_type;  ///< io.BufferedRandom

FileWrapper* wrapper(PyObject* self) { return reinterpret_cast<FileWrapper*>(self); }

int wrapper_init(PyObject* self, PyObject* args, PyObject* keywords) {
  static char file_name[] = "filelike";
  static char block_name[] = "block_size";
  static char* names_of_arguments[] = {file_name, block_name, nullptr};
  PyObject* file = nullptr;
  Py_ssize_t block_bytes = default_block_bytes;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|n:file_wrapper", names_of_arguments, &file,
                                   &block_bytes))
    return -1;
  PyObject* old = wrapper(self)->file;
  Py_INCREF(file);
  wrapper(self)->file = file;
  wrapper(self)->block_bytes = block_bytes > 0 ? block_bytes : default_block_bytes;
  Py_XDECREF(old);
  return 0;
}

PyObject* wrapper_iter(PyObject* self) {
  Py_INCREF(self);
  return self;
}

/// The next block; the first empty one ends the iteration.
PyObject* wrapper_next(PyObject* self) {
  if (wrapper(self)->file == nullptr) return nullptr;
  Ref block =
      Ref::steal(PyObject_CallMethod(wrapper(self)->file, "read", "n", wrapper(self)->block_bytes));
  if (!block) return nullptr;
  int more = PyObject_IsTrue(block.get());
  return more > 0 ? block.release() : nullptr;
}

PyObject* wrapper_close(PyObject* self, PyObject*) {
  if (wrapper(self)->file == nullptr) Py_RETURN_NONE;
  Ref close;
  int found = find_attribute(wrapper(self)->file, names.close, close);
  if (found < 0) return nullptr;
  if (found == 0) Py_RETURN_NONE;
  return call_nothing(close.get());
}

int wrapper_traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(wrapper(self)->file);
  Py_VISIT(reinterpret_cast<PyObject*>(Py_TYPE(self)));
  return 0;
}

int wrapper_clear(PyObject* self) {
  PyObject* file = wrapper(self)->file;
  wrapper(self)->file = nullptr;
  Py_XDECREF(file);
  return 0;
}

void wrapper_dealloc(PyObject* self) {
  PyObject_GC_UnTrack(self);
  wrapper_clear(self);
  PyTypeObject* type = Py_TYPE(self);
  PyObject_GC_Del(self);
  Py_DECREF(reinterpret_cast<PyObject*>(type));
}

PyMethodDef methods[] = {
    {"close", as_method(wrapper_close), METH_NOARGS, "closes the file"},
    {nullptr, nullptr, 0, nullptr},
};

PyType_Slot slots[] = {
    {Py_tp_new, as_slot(PyType_GenericNew)},
    {Py_tp_init, as_slot(wrapper_init)},
    {Py_tp_dealloc, as_slot(wrapper_dealloc)},
    {Py_tp_traverse, as_slot(wrapper_traverse)},
    {Py_tp_clear, as_slot(wrapper_clear)},
    {Py_tp_iter, as_slot(wrapper_iter)},
    {Py_tp_iternext, as_slot(wrapper_next)},
    {Py_tp_methods, methods},
    {0, nullptr},
};

PyType_Spec spec = {"_portico.FileWrapper", sizeof(FileWrapper), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC, slots};

bool is_exactly(PyObject* object, PyObject* type) {
  return reinterpret_cast<PyObject*>(Py_TYPE(object)) == type;
}

bool is_buffered(PyObject* file) {
  return is_exactly(file, buffered_reader_type) || is_exactly(file, buffered_random_type);
}

/// Whether a file's bytes are its descriptor's bytes: io.FileIO, or a plain buffer around one.
bool is_plain_file(PyObject* file) {
  if (is_exactly(file, raw_type)) return true;
  if (!is_buffered(file)) return false;
  Ref raw;
  return find_attribute(file, names.raw, raw) > 0 && is_exactly(raw.get(), raw_type);
}

/// The plain file in a wrapper: the object itself, or the `file` of a tempfile object. Null when
/// there is none.
Ref plain_file(PyObject* file) {
  if (is_plain_file(file)) return Ref::share(file);
  Ref module;
  Ref inner;
  PyObject* type = reinterpret_cast<PyObject*>(Py_TYPE(file));
  if (find_attribute(type, names.module, module) <= 0 || !PyUnicode_Check(module.get())) return {};
  if (PyUnicode_CompareWithASCIIString(module.get(), "tempfile") != 0) return {};
  if (find_attribute(file, names.file, inner) <= 0 || !is_plain_file(inner.get())) return {};
  return inner;
}

/// What a method without arguments returns, as a number of at least 0; else -1.
long long number_from(PyObject* object, PyObject* method) {
  Ref result = Ref::steal(PyObject_CallMethodObjArgs(object, method, nullptr));
  if (!result || !PyLong_Check(result.get())) return -1;
  return PyLong_AsLongLong(result.get());
}

bool find_range(PyObject* file, WrappedFile& range) {
  long long descriptor = number_from(file, names.fileno);
  long long offset = number_from(file, names.tell);
  struct stat facts {};
  if (descriptor < 0 || offset < 0 || ::fstat(static_cast<int>(descriptor), &facts) != 0)
    return false;
  if (!S_ISREG(facts.st_mode)) return false;
  range.descriptor = static_cast<int>(descriptor);
  range.offset = static_cast<std::uint64_t>(offset);
  range.length = facts.st_size > offset ? static_cast<std::uint64_t>(facts.st_size - offset) : 0;
  return true;
}

}  // namespace

bool make_file_wrapper_type() {
  wrapper_type = make_type(spec);
  Ref io = Ref::steal(PyImport_ImportModule("io"));
  if (wrapper_type == nullptr || !io) return false;
  raw_type = PyObject_GetAttrString(io.get(), "FileIO");
  buffered_reader_type = PyObject_GetAttrString(io.get(), "BufferedReader");
  buffered_random_type = PyObject_GetAttrString(io.get(), "BufferedRandom");
  return raw_type != nullptr && buffered_reader_type != nullptr && buffered_random_type != nullptr;
}

PyObject* file_wrapper_type() { return reinterpret_cast<PyObject*>(wrapper_type); }

bool wrapped_file(PyObject* result, WrappedFile& file) {
  if (!is_exactly(result, file_wrapper_type()) || wrapper(result)->file == nullptr) return false;
  Ref plain = plain_file(wrapper(result)->file);
  bool found = plain && find_range(plain.get(), file);
  PyErr_Clear();
  return found;
}

}  // namespace portico::engine
