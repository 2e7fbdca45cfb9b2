#include "backend/engine/report.h"

#include <unistd.h>

#include <cerrno>

#include "backend/record/buffer.h"

namespace portico::engine {
namespace {

/// In the front, standard error is the front's own.
int error_descriptor = STDERR_FILENO;

/// The request in front of a message: "[id] GET /path: ".
void append_request(record::Buffer& text, const record::Record* record) {
  if (record == nullptr) return;
  text.append("[");
  text.append(record->request_id);
  text.append("] ");
  text.append(record->method);
  text.append(" ");
  text.append(record->target);
  text.append(": ");
}

/// A caught exception, normalised.
struct Caught {
  Ref type;
  Ref value;
  Ref trace;
};

Caught catch_exception() {
  PyObject* type = nullptr;
  PyObject* value = nullptr;
  PyObject* trace = nullptr;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  return {Ref::steal(type), Ref::steal(value), Ref::steal(trace)};
}

/// traceback.format_exception(...), joined and encoded; null (without an exception) when that
/// fails.
Ref format(const Caught& caught) {
  Ref module = Ref::steal(PyImport_ImportModule("traceback"));
  Ref lines;
  if (module) {
    lines = Ref::steal(PyObject_CallMethod(
        module.get(), "format_exception", "OOO", caught.type.get(),
        caught.value ? caught.value.get() : Py_None, caught.trace ? caught.trace.get() : Py_None));
  }
  Ref nothing = Ref::steal(PyUnicode_FromString(""));
  Ref text;
  if (lines && nothing) text = Ref::steal(PyUnicode_Join(nothing.get(), lines.get()));
  Ref bytes;
  if (text) bytes = Ref::steal(PyUnicode_AsEncodedString(text.get(), "utf-8", "backslashreplace"));
  PyErr_Clear();
  return bytes;
}

}  // namespace

void report_to(int descriptor) { error_descriptor = descriptor; }

void write_stderr(std::string_view text) {
  while (!text.empty()) {
    ssize_t part = ::write(error_descriptor, text.data(), text.size());
    if (part < 0 && errno == EINTR) continue;
    if (part <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(part));
  }
}

void report(const record::Record* record, const char* message) {
  record::Buffer text;
  append_request(text, record);
  text.append(message);
  text.append("\n");
  write_stderr(text.view());
}

bool report_exception(const record::Record* record, const char* what) {
  if (PyErr_Occurred() == nullptr) return false;
  Caught caught = catch_exception();
  bool leaves = PyErr_GivenExceptionMatches(caught.type.get(), PyExc_Exception) == 0;
  record::Buffer text;
  append_request(text, record);
  text.append(what);
  text.append("\n");
  Ref trace = format(caught);
  text.append(trace ? bytes_of(trace.get()) : "(the traceback could not be formatted)\n");
  write_stderr(text.view());
  return leaves;
}

void report_briefly(const record::Record* record, const char* what) {
  Caught caught = catch_exception();
  Ref words = Ref::steal(PyObject_Str(caught.value.get()));
  Ref bytes;
  if (words)
    bytes = Ref::steal(PyUnicode_AsEncodedString(words.get(), "utf-8", "backslashreplace"));
  PyErr_Clear();
  record::Buffer text;
  append_request(text, record);
  text.append(what);
  text.append(": ");
  if (bytes) text.append(bytes_of(bytes.get()));
  text.append("\n");
  write_stderr(text.view());
}

}  // namespace portico::engine
