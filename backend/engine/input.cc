#include "backend/engine/input.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "backend/engine/input_methods.h"

namespace portico::engine {
namespace {

/// Bytes of a spooled body that readline() looks at in one go.
constexpr std::size_t window_bytes = std::size_t{32} * 1024;
/// From here on a read gives up the GIL.
constexpr std::size_t long_read_bytes = std::size_t{64} * 1024;

struct Input {
  PyObject head;  // PyObject_HEAD, spelt without a macro
  bool alive;
  int descriptor;      ///< -1: the body is at `memory`
  const char* memory;  ///< in the worker thread's record
  std::uint64_t size;  ///< of the body
  std::uint64_t at;    ///< read so far
  char* window;        ///< of a spooled body, for readline(); malloc
  std::uint64_t window_at;
  std::size_t window_size;
};

PyTypeObject* input_type;

Input* alive(PyObject* self) {
  Input* input = reinterpret_cast<Input*>(self);
  if (input->alive) return input;
  raise_dead_input();
  return nullptr;
}

/// pread until `count` bytes are there; false with an exception when the file is shorter than the
/// record said.
bool read_file(const Input& input, std::uint64_t from, char* place, std::size_t count) {
  while (count > 0) {
    ssize_t part = ::pread(input.descriptor, place, count, static_cast<off_t>(from));
    if (part < 0 && errno == EINTR) continue;
    if (part <= 0) {
      if (part == 0) errno = EIO;
      return PyErr_SetFromErrno(PyExc_OSError) != nullptr;
    }
    place += part;
    from += static_cast<std::uint64_t>(part);
    count -= static_cast<std::size_t>(part);
  }
  return true;
}

/// As read_file, in a way that other Python threads run meanwhile.
bool read_long(const Input& input, std::uint64_t from, char* place, std::size_t count) {
  while (count > 0) {
    std::size_t wanted = std::min(count, std::size_t{1} << 30);
    Py_BEGIN_ALLOW_THREADS;
    ssize_t part = ::pread(input.descriptor, place, wanted, static_cast<off_t>(from));
    wanted = part > 0 ? static_cast<std::size_t>(part) : 0;
    Py_END_ALLOW_THREADS;
    if (wanted == 0) return read_file(input, from, place, count);
    place += wanted;
    from += wanted;
    count -= wanted;
  }
  return true;
}

bool copy_out(const Input& input, char* place, std::size_t count) {
  if (input.descriptor < 0) {
    if (count > 0) std::memcpy(place, input.memory + input.at, count);
    return true;
  }
  return count >= long_read_bytes ? read_long(input, input.at, place, count)
                                  : read_file(input, input.at, place, count);
}

/// The next `count` bytes, which must be there.
PyObject* take(Input* input, std::size_t count) {
  Ref bytes = Ref::steal(PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(count)));
  if (!bytes || !copy_out(*input, PyBytes_AsString(bytes.get()), count)) return nullptr;
  input->at += count;
  return bytes.release();
}

std::uint64_t bytes_left(const Input& input) { return input.size - std::min(input.at, input.size); }

PyObject* input_read(PyObject* self, PyObject* const* args, Py_ssize_t count) {
  Input* input = alive(self);
  std::uint64_t wanted = 0;
  if (input == nullptr || !asked_bytes(args, count, bytes_left(*input), wanted)) return nullptr;
  return take(input, static_cast<std::size_t>(wanted));
}

/// Moves the window so that it begins at `from`; it then has at least one byte. False with an
/// exception.
bool fill_window(Input* input, std::uint64_t from) {
  if (input->window == nullptr) input->window = static_cast<char*>(std::malloc(window_bytes));
  if (input->window == nullptr) return PyErr_NoMemory() != nullptr;
  std::size_t count =
      static_cast<std::size_t>(std::min<std::uint64_t>(window_bytes, input->size - from));
  input->window_size = 0;
  if (!read_file(*input, from, input->window, count)) return false;
  input->window_at = from;
  input->window_size = count;
  return true;
}

/// The bytes that are at hand at a position of the body: all of an inline body, a window of a
/// spooled one. Empty with an exception on failure.
std::string_view at_hand(Input* input, std::uint64_t from) {
  if (input->descriptor < 0)
    return {input->memory + from, static_cast<std::size_t>(input->size - from)};
  bool inside = from >= input->window_at && from < input->window_at + input->window_size;
  if (!inside && !fill_window(input, from)) return {};
  std::size_t skipped = static_cast<std::size_t>(from - input->window_at);
  return {input->window + skipped, input->window_size - skipped};
}

/// The length of the line that begins at the present position, at most `limit`. False with an
/// exception.
bool line_length(Input* input, std::uint64_t limit, std::uint64_t& length) {
  length = 0;
  while (length < limit) {
    std::string_view bytes = at_hand(input, input->at + length);
    if (bytes.empty()) return false;
    std::size_t part =
        static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), limit - length));
    const void* found = std::memchr(bytes.data(), '\n', part);
    if (found != nullptr) {
      length += static_cast<std::uint64_t>(static_cast<const char*>(found) - bytes.data()) + 1;
      return true;
    }
    length += part;
  }
  return true;
}

PyObject* take_line(Input* input, std::uint64_t limit) {
  std::uint64_t length = 0;
  if (!line_length(input, limit, length)) return nullptr;
  return take(input, static_cast<std::size_t>(length));
}

PyObject* input_readline(PyObject* self, PyObject* const* args, Py_ssize_t count) {
  Input* input = alive(self);
  std::uint64_t wanted = 0;
  if (input == nullptr || !asked_bytes(args, count, bytes_left(*input), wanted)) return nullptr;
  return take_line(input, wanted);
}

PyObject* input_next(PyObject* self) {
  Input* input = alive(self);
  if (input == nullptr || input->at >= input->size) return nullptr;
  return take_line(input, input->size - input->at);
}

/// readlines(hint): whole lines until at least `hint` bytes were read; 0 or less means all.
PyObject* input_readlines(PyObject* self, PyObject* const* args, Py_ssize_t count) {
  Input* input = alive(self);
  std::uint64_t hint = 0;
  if (input == nullptr || !asked_bytes(args, count, bytes_left(*input), hint)) return nullptr;
  if (hint == 0) hint = UINT64_MAX;
  Ref lines = Ref::steal(PyList_New(0));
  std::uint64_t begun = input->at;
  while (lines && input->at < input->size && input->at - begun < hint) {
    Ref line = Ref::steal(take_line(input, input->size - input->at));
    if (!line || PyList_Append(lines.get(), line.get()) < 0) return nullptr;
  }
  return lines.release();
}

PyObject* input_readinto(PyObject* self, PyObject* buffer) {
  Input* input = alive(self);
  if (input == nullptr) return nullptr;
  std::size_t room = 0;
  Ref view = flat_view(buffer, room);
  if (!view) return nullptr;
  std::uint64_t part = std::min(bytes_left(*input), static_cast<std::uint64_t>(room));
  Ref bytes = Ref::steal(take(input, static_cast<std::size_t>(part)));
  return bytes ? put_into(view.get(), bytes.get()) : nullptr;
}

PyObject* input_tell(PyObject* self, PyObject*) {
  Input* input = alive(self);
  return input == nullptr ? nullptr : PyLong_FromUnsignedLongLong(input->at);
}

PyObject* input_seek(PyObject* self, PyObject* args) {
  Input* input = alive(self);
  long long offset = 0;
  int whence = 0;
  if (input == nullptr || !PyArg_ParseTuple(args, "L|i:seek", &offset, &whence)) return nullptr;
  long long origin = 0;
  if (whence == 1) origin = static_cast<long long>(input->at);
  if (whence == 2) origin = static_cast<long long>(input->size);
  if (whence < 0 || whence > 2 || offset < -origin)
    return raise(PyExc_ValueError, "seek to before the beginning of the body");
  input->at = static_cast<std::uint64_t>(origin) + static_cast<std::uint64_t>(offset);
  return PyLong_FromUnsignedLongLong(input->at);
}

void forget_body(Input* input) {
  input->alive = false;
  input->descriptor = -1;
  input->memory = nullptr;
  input->size = input->at = 0;
  std::free(input->window);
  input->window = nullptr;
  input->window_size = 0;
}

void input_dealloc(PyObject* self) {
  forget_body(reinterpret_cast<Input*>(self));
  free_instance(self);
}

PyMethodDef methods[] = {
    {"read", as_method(input_read), method_fastcall, "read([size]): bytes"},
    {"readline", as_method(input_readline), method_fastcall, "readline([size]): one line"},
    {"readlines", as_method(input_readlines), method_fastcall, "readlines([hint]): lines"},
    {"readinto", as_method(input_readinto), METH_O, "readinto(buffer): count"},
    {"seek", as_method(input_seek), METH_VARARGS, "seek(offset[, whence]): position"},
    {"tell", as_method(input_tell), METH_NOARGS, "tell(): position"},
    {"readable", as_method(input_true), METH_NOARGS, "True"},
    {"seekable", as_method(input_true), METH_NOARGS, "True"},
    {"writable", as_method(input_false), METH_NOARGS, "False"},
    {"close", as_method(input_close), METH_NOARGS, "does nothing: the body is the server's"},
    {nullptr, nullptr, 0, nullptr},
};

PyGetSetDef attributes[] = {
    {"closed", input_closed, nullptr, "False", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

PyType_Slot slots[] = {
    {Py_tp_dealloc, as_slot(input_dealloc)},
    {Py_tp_iter, as_slot(input_iter)},
    {Py_tp_iternext, as_slot(input_next)},
    {Py_tp_methods, methods},
    {Py_tp_getset, attributes},
    {0, nullptr},
};

PyType_Spec spec = {"_portico.Input", sizeof(Input), 0, Py_TPFLAGS_DEFAULT, slots};

}  // namespace

bool make_input_type() {
  input_type = make_type(spec);
  return input_type != nullptr;
}

PyObject* InputSlot::begin(const record::Record& record, int descriptor) {
  if (!object_) object_ = Ref::steal(reinterpret_cast<PyObject*>(new_instance<Input>(input_type)));
  if (!object_) return nullptr;
  Input* input = reinterpret_cast<Input*>(object_.get());
  input->alive = true;
  input->descriptor = descriptor;
  input->memory = record.body.data();
  input->size = record.content_length;
  input->at = 0;
  return object_.get();
}

void InputSlot::end() {
  if (!object_) return;
  forget_body(reinterpret_cast<Input*>(object_.get()));
  if (references(object_.get()) > 1) object_ = {};
}

}  // namespace portico::engine
