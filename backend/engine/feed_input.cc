#include "backend/engine/feed_input.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "backend/engine/feed.h"
#include "backend/engine/input_methods.h"
#include "backend/record/buffer.h"

namespace portico::engine {
namespace {

/// What read() asks for at a time where nobody knows how much will come, and the most that is set
/// aside at once for a read(n) that may bring less.
constexpr std::size_t step_bytes = record::max_feed_piece_bytes;
constexpr std::uint64_t most_set_aside = std::uint64_t{1} << 20;

struct FeedInput {
  PyObject head;  // PyObject_HEAD, spelt without a macro
  bool alive;
  bool busy;           ///< a thread is in one of the methods
  bool has_length;     ///< the client has told the length
  std::uint64_t size;  ///< of the body, if so
  std::uint64_t at;    ///< given to the application so far
  Feed feed;
};

PyTypeObject* feed_input_type;

FeedInput* input_of(PyObject* self) { return reinterpret_cast<FeedInput*>(self); }

/// One thread's use of the object, from a method's begin to its end. False with an exception.
class Use {
 public:
  explicit Use(PyObject* self) : input_(input_of(self)) {
    if (!input_->alive) {
      raise_dead_input();
    } else if (input_->busy) {
      raise(PyExc_RuntimeError, "wsgi.input is being read by another thread");
    } else {
      input_->busy = mine_ = true;
    }
  }
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;
  ~Use() {
    if (!mine_) return;
    input_->busy = false;
    if (!input_->alive) input_->feed.close();
  }
  explicit operator bool() const { return mine_; }

 private:
  FeedInput* input_;
  bool mine_ = false;
};

std::uint64_t most_left(const FeedInput& input) {
  return input.has_length ? input.size - std::min(input.at, input.size) : UINT64_MAX;
}

/// Reads until `count` bytes are there or the body is complete; false with an exception, also when
/// the request has ended meanwhile.
bool read_fully(FeedInput* input, char* place, std::size_t count, std::size_t& got) {
  got = 0;
  while (got < count) {
    std::size_t part = 0;
    if (!input->feed.read(place + got, count - got, part)) break;
    if (part == 0) return true;
    got += part;
  }
  if (!input->alive) {
    PyErr_Clear();
    raise_dead_input();
  }
  return PyErr_Occurred() == nullptr;
}

PyObject* bytes_from(FeedInput* input, std::string_view text) {
  input->at += text.size();
  return PyBytes_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size()));
}

/// For sizes that will mostly be reached: into the very bytes object.
PyObject* read_in_place(FeedInput* input, std::size_t count) {
  Ref bytes = Ref::steal(PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(count)));
  std::size_t got = 0;
  if (!bytes || !read_fully(input, PyBytes_AsString(bytes.get()), count, got)) return nullptr;
  input->at += got;
  if (got == count) return bytes.release();
  return PyBytes_FromStringAndSize(PyBytes_AsString(bytes.get()), static_cast<Py_ssize_t>(got));
}

/// For chunks, whose sum nobody knows.
PyObject* read_growing(FeedInput* input, std::uint64_t count) {
  record::Buffer bytes;
  std::size_t got = step_bytes;
  while (got == step_bytes && bytes.size() < count) {
    std::size_t begun = bytes.size();
    std::size_t part = static_cast<std::size_t>(std::min<std::uint64_t>(step_bytes, count - begun));
    if (!read_fully(input, bytes.extend(part), part, got)) return nullptr;
    bytes.shorten(begun + got);
  }
  return bytes_from(input, bytes.view());
}

PyObject* take(FeedInput* input, std::uint64_t count) {
  if (input->has_length || count <= most_set_aside)
    return read_in_place(input, static_cast<std::size_t>(count));
  return read_growing(input, count);
}

/// Waits for more of a line; false with an exception.
bool fill(FeedInput* input) {
  bool filled = input->feed.fill();
  if (input->alive) return filled;
  PyErr_Clear();
  return raise_dead_input() != nullptr;
}

/// What is at hand of the line that begins here: up to its end, and at most `limit` bytes.
std::string_view line_part(std::string_view bytes, std::uint64_t limit) {
  std::size_t size = static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), limit));
  const void* found = std::memchr(bytes.data(), '\n', size);
  if (found != nullptr)
    size = static_cast<std::size_t>(static_cast<const char*>(found) - bytes.data()) + 1;
  return {bytes.data(), size};
}

/// The line that begins here, at most `limit` bytes of it; empty at the end.
PyObject* take_line(FeedInput* input, std::uint64_t limit) {
  record::Buffer line;
  while (line.size() < limit) {
    if (!fill(input)) return nullptr;
    std::string_view part = line_part(input->feed.at_hand(), limit - line.size());
    if (part.empty()) break;
    line.append(part);
    input->feed.use(part.size());
    if (part.back() == '\n') break;
  }
  return bytes_from(input, line.view());
}

PyObject* feed_read(PyObject* self, PyObject* const* args, Py_ssize_t count) {
  FeedInput* input = input_of(self);
  Use use(self);
  std::uint64_t wanted = 0;
  if (!use || !asked_bytes(args, count, most_left(*input), wanted)) return nullptr;
  return take(input, wanted);
}

PyObject* feed_readline(PyObject* self, PyObject* const* args, Py_ssize_t count) {
  Use use(self);
  std::uint64_t wanted = 0;
  if (!use || !asked_bytes(args, count, UINT64_MAX, wanted)) return nullptr;
  return take_line(input_of(self), wanted);
}

PyObject* feed_next(PyObject* self) {
  Use use(self);
  Ref line = use ? Ref::steal(take_line(input_of(self), UINT64_MAX)) : Ref();
  return line && PyBytes_Size(line.get()) > 0 ? line.release() : nullptr;
}

/// readlines(hint): whole lines until at least `hint` bytes were read; 0 or less means all.
PyObject* feed_readlines(PyObject* self, PyObject* const* args, Py_ssize_t count) {
  FeedInput* input = input_of(self);
  Use use(self);
  std::uint64_t hint = 0;
  if (!use || !asked_bytes(args, count, UINT64_MAX, hint)) return nullptr;
  if (hint == 0) hint = UINT64_MAX;
  Ref lines = Ref::steal(PyList_New(0));
  std::uint64_t begun = input->at;
  while (lines && input->at - begun < hint) {
    Ref line = Ref::steal(take_line(input, UINT64_MAX));
    if (!line) return nullptr;
    if (PyBytes_Size(line.get()) == 0) break;
    if (PyList_Append(lines.get(), line.get()) < 0) return nullptr;
  }
  return lines.release();
}

PyObject* feed_readinto(PyObject* self, PyObject* buffer) {
  FeedInput* input = input_of(self);
  Use use(self);
  if (!use) return nullptr;
  std::size_t room = 0;
  Ref view = flat_view(buffer, room);
  if (!view) return nullptr;
  Ref bytes = Ref::steal(take(input, std::min<std::uint64_t>(room, most_left(*input))));
  return bytes ? put_into(view.get(), bytes.get()) : nullptr;
}

PyObject* feed_tell(PyObject* self, PyObject*) {
  FeedInput* input = input_of(self);
  return input->alive ? PyLong_FromUnsignedLongLong(input->at) : raise_dead_input();
}

/// As files have it that cannot: io.UnsupportedOperation.
PyObject* feed_seek(PyObject*, PyObject*) {
  Ref io = Ref::steal(PyImport_ImportModule("io"));
  Ref type = io ? Ref::steal(PyObject_GetAttrString(io.get(), "UnsupportedOperation")) : Ref();
  if (!type) return nullptr;
  return raise(type.get(), "a streamed request body can be read once (request: stream)");
}

void feed_dealloc(PyObject* self) {
  input_of(self)->feed.forget();
  free_instance(self);
}

PyMethodDef methods[] = {
    {"read", as_method(feed_read), method_fastcall, "read([size]): bytes; waits for the client"},
    {"readline", as_method(feed_readline), method_fastcall, "readline([size]): one line"},
    {"readlines", as_method(feed_readlines), method_fastcall, "readlines([hint]): lines"},
    {"readinto", as_method(feed_readinto), METH_O, "readinto(buffer): count"},
    {"seek", as_method(feed_seek), METH_VARARGS, "raises io.UnsupportedOperation"},
    {"tell", as_method(feed_tell), METH_NOARGS, "tell(): position"},
    {"readable", as_method(input_true), METH_NOARGS, "True"},
    {"seekable", as_method(input_false), METH_NOARGS, "False"},
    {"writable", as_method(input_false), METH_NOARGS, "False"},
    {"close", as_method(input_close), METH_NOARGS, "does nothing: the body is the server's"},
    {nullptr, nullptr, 0, nullptr},
};

PyGetSetDef attributes[] = {
    {"closed", input_closed, nullptr, "False", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

PyType_Slot slots[] = {
    {Py_tp_dealloc, as_slot(feed_dealloc)},
    {Py_tp_iter, as_slot(input_iter)},
    {Py_tp_iternext, as_slot(feed_next)},
    {Py_tp_methods, methods},
    {Py_tp_getset, attributes},
    {0, nullptr},
};

PyType_Spec spec = {"_portico.FeedInput", sizeof(FeedInput), 0, Py_TPFLAGS_DEFAULT, slots};

}  // namespace

bool make_feed_input_type() {
  feed_input_type = make_type(spec);
  return feed_input_type != nullptr;
}

PyObject* FeedSlot::begin(const record::Record& record, int descriptor) {
  if (!object_)
    object_ = Ref::steal(reinterpret_cast<PyObject*>(new_instance<FeedInput>(feed_input_type)));
  if (!object_) {
    ::close(descriptor);
    return nullptr;
  }
  FeedInput* input = input_of(object_.get());
  input->alive = true;
  input->has_length = record.has_length;
  input->size = record.content_length;
  input->at = 0;
  input->feed.open(descriptor);
  return object_.get();
}

bool FeedSlot::failed() const {
  if (!object_) return false;
  const FeedInput* input = input_of(object_.get());
  return input->alive && input->feed.state == Feed::State::failed;
}

void FeedSlot::end() {
  if (!object_) return;
  FeedInput* input = input_of(object_.get());
  if (!input->alive) return;
  input->alive = false;
  if (input->busy) {
    input->feed.interrupt();
  } else {
    input->feed.close();
  }
  if (references(object_.get()) > 1) object_ = {};
}

}  // namespace portico::engine
