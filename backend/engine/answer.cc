#include "backend/engine/answer.h"

#include <time.h>

#include <algorithm>

#include "backend/engine/report.h"

namespace portico::engine {
namespace {

/// Up to here bytes are copied behind their head; above, they are sent from where they are.
constexpr std::size_t copied_bytes = std::size_t{16} * 1024;
/// A buffer larger than this is not kept for the next request.
constexpr std::size_t kept_bytes = std::size_t{128} * 1024;

}  // namespace

/// One thread at a time. An application may call write() in threads of its own, and sending gives
/// up the GIL, so frames could mix. Under the GIL a plain flag will do; who finds it set (which is
/// rare) looks again each millisecond.
class Answer::Turn {
 public:
  explicit Turn(bool& busy) : busy_(busy) {
    while (busy_) {
      PyThreadState* state = PyEval_SaveThread();
      timespec pause{0, 1000000};
      ::nanosleep(&pause, nullptr);
      PyEval_RestoreThread(state);
    }
    busy_ = true;
  }
  ~Turn() { busy_ = false; }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  bool& busy_;
};

void Answer::begin(const record::Record& record, record::Cells cells, Outbox& outbox,
                   Flusher& flusher) {
  ++requests_;
  record_ = &record;
  outbox_ = &outbox;
  flusher_ = &flusher;
  cells_ = cells;
  out_.clear();
  out_.trim(kept_bytes);
  writer_.start(record.cell, record.serial);
  facts_ = {};
  sent_ = 0;
  head_only_ = record.method == "HEAD";
  may_gather_ = head_only_ || record.method == "GET";
  warned_ = false;
  disconnected_ = false;
  stage_ = Stage::waiting;
}

bool Answer::start(PyObject* status, PyObject* headers, PyObject* exc_info) {
  bool again = exc_info != nullptr && exc_info != Py_None;
  if (again && stage_ >= Stage::opened) return restart(exc_info);
  if (!again && stage_ != Stage::waiting) {
    raise(PyExc_AssertionError, "start_response was called a second time without exc_info");
    return false;
  }
  out_.clear();
  bool sound = write_head(status, headers, writer_, facts_);
  stage_ = sound ? Stage::headed : Stage::refused;
  return sound;
}

/// The head has gone: the application's own exception is raised again, with its traceback.
bool Answer::restart(PyObject* exc_info) {
  PyObject* parts[3] = {};
  if (!PyTuple_Check(exc_info) ||
      !PyArg_ParseTuple(exc_info, "OOO", &parts[0], &parts[1], &parts[2])) {
    raise(PyExc_TypeError, "exc_info must be a tuple like sys.exc_info()");
    return false;
  }
  for (PyObject*& part : parts) {
    if (part == Py_None) part = nullptr;
    Py_XINCREF(part);
  }
  PyErr_Restore(parts[0], parts[1], parts[2]);
  return false;
}

bool Answer::write(PyObject* data) {
  if (!PyBytes_Check(data)) {
    PyErr_Format(PyExc_TypeError, "write() takes bytes, not %R", Py_TYPE(data));
    return false;
  }
  if (!headed()) {
    raise(PyExc_AssertionError, "write() was called without a valid start_response");
    return false;
  }
  std::uint32_t request = requests_;
  Turn turn(busy_);
  if (request != requests_) return raise(PyExc_RuntimeError, "the request has ended") != nullptr;
  if (stage_ < Stage::opened) open_body();
  if (wanted()) put(bytes_of(data));
  hand_on(Pace::now);
  return true;
}

bool Answer::hint(PyObject* headers) {
  record::Buffer hints;
  record::FrameWriter writer(hints);
  writer.start(record_->cell, record_->serial);
  if (!write_hints(headers, writer)) return false;
  std::uint32_t request = requests_;
  Turn turn(busy_);
  if (request != requests_ || begun())
    return raise(PyExc_RuntimeError, "early hints are too late: the response has begun") != nullptr;
  if (!wanted()) return true;
  outbox_->add(hints.view());
  outbox_->send();
  return true;
}

/// Once the answer has ended its cell tells no more: what was found before stays.
bool Answer::disconnected() {
  if (!ended() && !wanted()) disconnected_ = true;
  return disconnected_;
}

bool Answer::wanted() {
  return cells_.wanted(record_->cell, record_->serial) && !outbox_->broken();
}

std::uint64_t Answer::room() const {
  return facts_.length_known ? facts_.content_length - sent_ : UINT64_MAX;
}

void Answer::know_length(std::uint64_t length) {
  bool unknowable = facts_.status == 204 || facts_.status == 304 || (head_only_ && length == 0);
  if (stage_ >= Stage::opened || facts_.length_known || unknowable) return;
  facts_.length_known = true;
  facts_.content_length = length;
}

void Answer::open_body() {
  stage_ = Stage::opened;
  if (facts_.status == 204) facts_.length_known = false;
  std::uint8_t flags =
      static_cast<std::uint8_t>((facts_.length_known ? record::head_length_known : 0) |
                                (bodiless() ? record::head_no_body : 0));
  if (writer_.finish_head(flags, facts_.content_length)) return;
  report(record_, "the response head is too large");
  abort(record::AbortReason::bad_response);
}

/// Cuts to what the length allows; says so once.
std::string_view Answer::fitting(std::string_view bytes) {
  std::uint64_t allowed = room();
  if (bytes.size() <= allowed) return bytes;
  if (!warned_) report(record_, "the application gave more than its Content-Length; cut");
  warned_ = true;
  return {bytes.data(), static_cast<std::size_t>(allowed)};
}

bool Answer::add(std::string_view bytes) {
  Turn turn(busy_);
  return put(bytes);
}

bool Answer::put(std::string_view bytes) {
  if (stage_ < Stage::opened) open_body();
  if (bodiless() || ended()) return false;
  std::string_view part = fitting(bytes);
  sent_ += part.size();
  if (part.size() > copied_bytes) {
    if (!add_large(part)) return false;
  } else {
    writer_.data(part);
  }
  return part.size() == bytes.size();
}

/// Sends bytes from their own memory, each frame in one call with what stands before it.
bool Answer::add_large(std::string_view bytes) {
  stage_ = Stage::begun;
  while (!bytes.empty()) {
    std::string_view part(bytes.data(), std::min(bytes.size(), record::max_data_payload_bytes));
    writer_.data_header(part.size());
    outbox_->add(out_.view());
    out_.clear();
    if (!outbox_->send(part) || !wanted()) return false;
    bytes.remove_prefix(part.size());
  }
  return true;
}

void Answer::add_file(int descriptor, std::uint64_t offset, std::uint64_t length) {
  Turn turn(busy_);
  put_file(descriptor, offset, length);
}

void Answer::put_file(int descriptor, std::uint64_t offset, std::uint64_t length) {
  if (stage_ < Stage::opened) open_body();
  if (bodiless() || ended()) return;
  length = std::min(length, room());
  if (length == 0) return;
  sent_ += length;
  hand_on(Pace::soon);
  writer_.file(offset, length);
  outbox_->send_with_descriptor(out_.view(), descriptor);
  out_.clear();
}

void Answer::pass_on(Pace pace) {
  Turn turn(busy_);
  hand_on(pace);
}

void Answer::hand_on(Pace pace) {
  if (ended()) return;
  if (!out_.empty()) {
    stage_ = Stage::begun;
    outbox_->add(out_.view());
    out_.clear();
  }
  bool at_once = pace == Pace::now || !outbox_->has_room() || !flusher_->arm();
  if (at_once) outbox_->send();
}

void Answer::finish() {
  Turn turn(busy_);
  if (stage_ < Stage::opened) open_body();
  if (ended()) return;
  if (facts_.length_known && !bodiless() && sent_ < facts_.content_length) {
    report(record_, "the application gave less than its Content-Length");
    abort(record::AbortReason::short_body);
    return;
  }
  writer_.end();
  end(may_gather_ ? Pace::soon : Pace::now);
}

void Answer::fail(record::AbortReason reason) {
  Turn turn(busy_);
  abort(reason);
}

void Answer::abort(record::AbortReason reason) {
  if (ended()) return;
  if (reason == record::AbortReason::cancelled) disconnected_ = true;
  if (!begun()) out_.clear();
  writer_.abort(reason);
  end(Pace::now);
}

void Answer::end(Pace pace) {
  stage_ = Stage::ended;
  bool room = outbox_->add_last(out_.view(), record_->cell, record_->serial);
  out_.clear();
  if (pace == Pace::now || !room) outbox_->send();
}

}  // namespace portico::engine
