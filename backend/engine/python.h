// CPython as the engine sees it: the stable ABI of 3.8, a few functions it exports without listing,
// and an owning pointer. The only file that includes <Python.h>.
//
// All calls need the GIL. Everything here is held to libc: no exceptions, no operator new, no
// libstdc++ symbols, because the module is loaded into interpreters we know nothing about.
#pragma once

#define Py_LIMITED_API 0x03080000
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <cstdint>
#include <string_view>

extern "C" {
// Exported by every CPython since 3.3, listed in the stable ABI since 3.10. The text of an ASCII
// string is its own memory, so reading one costs nothing.
PyAPI_FUNC(const char*) PyUnicode_AsUTF8AndSize(PyObject* text, Py_ssize_t* size);
// Exported since 3.9 (listed 3.12), 3.7 to 3.12, and since 3.13: weak, so null where missing.
__attribute__((weak)) PyObject* PyObject_Vectorcall(PyObject* callable, PyObject* const* args,
                                                    std::size_t count, PyObject* names);
__attribute__((weak)) int _PyObject_LookupAttr(PyObject* object, PyObject* name, PyObject** result);
__attribute__((weak)) int PyObject_GetOptionalAttr(PyObject* object, PyObject* name,
                                                   PyObject** result);
}

namespace portico::engine {

/// METH_FASTCALL, the same since 3.7: f(self, args, count) or, with METH_KEYWORDS, f(self, args,
/// count, names).
inline constexpr int method_fastcall = 0x0080;
using FastMethod = PyObject* (*)(PyObject*, PyObject* const*, Py_ssize_t, PyObject*);

/// Puts a function of any of CPython's method signatures into a PyMethodDef.
template <class Function>
PyCFunction as_method(Function* function) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}
/// Puts a function into a type slot.
template <class Function>
void* as_slot(Function* function) {
  return reinterpret_cast<void*>(function);
}

/// Owns one reference, or nothing.
class Ref {
 public:
  Ref() = default;
  /// Takes over a new reference, such as a call's result; null is fine.
  static Ref steal(PyObject* object) { return Ref(object); }
  static Ref share(PyObject* object) {
    Py_XINCREF(object);
    return Ref(object);
  }
  Ref(Ref&& other) noexcept : object_(other.release()) {}
  Ref& operator=(Ref&& other) noexcept {
    PyObject* old = object_;
    object_ = other.release();
    Py_XDECREF(old);
    return *this;
  }
  Ref(const Ref&) = delete;
  Ref& operator=(const Ref&) = delete;
  ~Ref() { Py_XDECREF(object_); }

  PyObject* get() const { return object_; }
  PyObject* release() {
    PyObject* object = object_;
    object_ = nullptr;
    return object;
  }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  explicit Ref(PyObject* object) : object_(object) {}
  PyObject* object_ = nullptr;
};

/// How many references an object has. The low half only: newer CPythons keep flags above it.
inline std::uint32_t references(PyObject* object) {
  return static_cast<std::uint32_t>(Py_REFCNT(object));
}

/// callable(first, second).
inline PyObject* call_two(PyObject* callable, PyObject* first, PyObject* second) {
  if (PyObject_Vectorcall != nullptr) {
    PyObject* args[2] = {first, second};
    return PyObject_Vectorcall(callable, args, 2, nullptr);
  }
  return PyObject_CallFunctionObjArgs(callable, first, second, nullptr);
}

/// callable().
inline PyObject* call_nothing(PyObject* callable) {
  return PyObject_CallFunctionObjArgs(callable, nullptr);
}

/// An attribute that may be missing: 1 found, 0 missing, -1 an exception is set.
inline int find_attribute(PyObject* object, PyObject* name, Ref& found) {
  PyObject* result = nullptr;
  int outcome = 0;
  if (PyObject_GetOptionalAttr != nullptr) {
    outcome = PyObject_GetOptionalAttr(object, name, &result);
  } else if (_PyObject_LookupAttr != nullptr) {
    outcome = _PyObject_LookupAttr(object, name, &result);
  } else {
    result = PyObject_GetAttr(object, name);
    if (result == nullptr && !PyErr_ExceptionMatches(PyExc_AttributeError)) return -1;
    PyErr_Clear();
    outcome = result != nullptr ? 1 : 0;
  }
  found = Ref::steal(result);
  return outcome;
}

/// The bytes of an exact or derived bytes object.
inline std::string_view bytes_of(PyObject* bytes) {
  return {PyBytes_AsString(bytes), static_cast<std::size_t>(PyBytes_Size(bytes))};
}

/// A str from bytes, one character a byte (WSGI's "native string"). New reference, or null with an
/// exception.
inline PyObject* latin1(std::string_view text) {
  return PyUnicode_DecodeLatin1(text.data(), static_cast<Py_ssize_t>(text.size()), nullptr);
}

/// Whether every byte is below 0x80.
bool is_ascii(std::string_view text);

/// Raises `type` with the message, and returns null to be returned.
PyObject* raise(PyObject* type, const char* message);

/// Makes a heap type; null with an exception on failure.
PyTypeObject* make_type(PyType_Spec& spec);

/// A new, zeroed instance of one of our types.
template <class Object>
Object* new_instance(PyTypeObject* type) {
  return reinterpret_cast<Object*>(PyType_GenericAlloc(type, 0));
}
/// Frees an instance of one of our heap types: since 3.8 each holds a reference to its type.
void free_instance(PyObject* self);

}  // namespace portico::engine
