#include "backend/engine/call.h"

#include "backend/engine/errors.h"
#include "backend/engine/file_wrapper.h"
#include "backend/engine/names.h"
#include "backend/engine/report.h"

namespace portico::engine {
namespace {

using record::AbortReason;

PyObject* item_of(PyObject* sequence, Py_ssize_t index) {
  return PyList_CheckExact(sequence) ? PyList_GetItem(sequence, index)
                                     : PyTuple_GetItem(sequence, index);
}

bool is_bytes(PyObject* item) {
  if (PyBytes_Check(item)) return true;
  PyErr_Format(PyExc_TypeError, "the application's iterable must yield bytes, not %R",
               Py_TYPE(item));
  return false;
}

/// Results whose items exist already and which have no close().
bool is_plain_sequence(PyObject* result) {
  return PyList_CheckExact(result) || PyTuple_CheckExact(result);
}

/// Null: the application gave none.
bool needs_close(PyObject* result) {
  return result != nullptr && !is_plain_sequence(result) && !PyBytes_Check(result);
}

}  // namespace

bool Caller::open(PyObject* application, PyObject* constants, record::Cells cells,
                  Flusher& flusher) {
  application_ = application;
  cells_ = cells;
  flusher_ = &flusher;
  errors_ = Ref::steal(new_errors());
  Ref all = Ref::steal(PyDict_Copy(constants));
  return errors_ && all && PyDict_SetItemString(all.get(), "wsgi.errors", errors_.get()) == 0 &&
         environs_.open(all.get());
}

bool Caller::run(const record::Record& record, int descriptor, Outbox& outbox) {
  bool more = begin(record, descriptor, outbox);
  while (more) more = step();
  return !leave_;
}

bool Caller::begin(const record::Record& record, int descriptor, Outbox& outbox) {
  record_ = &record;
  leave_ = false;
  answer_.begin(record, cells_, outbox, *flusher_);
  begin_errors(errors_.get(), record.request_id);
  if (record.body_place >= record::BodyPlace::descriptor && descriptor < 0) {
    report(&record, "the request's body did not come with it");
    answer_.fail(AbortReason::engine_error);
  } else {
    call(record, descriptor);
  }
  return needs_close(result_.get()) || end();
}

/// One chunk, or the end of the call.
bool Caller::step() {
  if (iterator_) {
    iterate();
    return true;
  }
  close(result_.get());
  return end();
}

/// Always false: nothing is left to do.
bool Caller::end() {
  result_ = {};
  environ_ = {};
  callables_.end();
  input_.end();
  feed_.end();
  end_errors(errors_.get());
  return false;
}

void Caller::call(const record::Record& record, int descriptor) {
  PyObject* input = begin_input(record, descriptor);
  if (input != nullptr && callables_.begin(answer_))
    environ_ = Ref::steal(environs_.make(record, facts_of(record, input)));
  if (!environ_) {
    report_exception(record_, "the environ could not be made");
    return answer_.fail(AbortReason::engine_error);
  }
  result_ = Ref::steal(call_two(application_, environ_.get(), callables_.start_response()));
  if (!result_) return application_failed("the application raised an exception");
  respond(result_.get());
}

PyObject* Caller::begin_input(const record::Record& record, int descriptor) {
  bool is_feed = record.body_place == record::BodyPlace::feed;
  return is_feed ? feed_.begin(record, descriptor) : input_.begin(record, descriptor);
}

CallFacts Caller::facts_of(const record::Record& record, PyObject* input) const {
  std::uint64_t allowed_ns = std::uint64_t{record.response_ms} * 1000000;
  std::uint64_t deadline_ns =
      allowed_ns == 0 ? 0 : cells_.look(record.cell).claimed_ns + allowed_ns;
  return {input, callables_.early_hints(), callables_.client_disconnected(), deadline_ns};
}

void Caller::respond(PyObject* result) {
  WrappedFile file{};
  if (is_plain_sequence(result)) {
    respond_sequence(result);
  } else if (PyBytes_Check(result)) {
    respond_bytes(result);
  } else if (Py_TYPE(result) == reinterpret_cast<PyTypeObject*>(file_wrapper_type()) &&
             wrapped_file(result, file)) {
    respond_file(file);
  } else {
    respond_iterable(result);
  }
}

void Caller::respond_bytes(PyObject* bytes) {
  if (!has_head()) return;
  if (!answer_.begun()) answer_.know_length(static_cast<std::uint64_t>(PyBytes_Size(bytes)));
  answer_.add(bytes_of(bytes));
  complete();
}

void Caller::respond_sequence(PyObject* sequence) {
  std::uint64_t bytes = 0;
  if (!sum_sequence(sequence, bytes)) return response_is_bad("the response is not valid");
  if (!has_head()) return;
  if (!answer_.begun()) answer_.know_length(bytes);
  for (Py_ssize_t i = 0; i < PyObject_Size(sequence); ++i) {
    Ref item = Ref::share(item_of(sequence, i));
    if (!item || !PyBytes_Check(item.get()) || !answer_.add(bytes_of(item.get()))) break;
  }
  PyErr_Clear();
  complete();
}

/// The bytes of all items; false with an exception when one is not bytes.
bool Caller::sum_sequence(PyObject* sequence, std::uint64_t& bytes) {
  Py_ssize_t count = PyObject_Size(sequence);
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* item = item_of(sequence, i);
    if (!is_bytes(item)) return false;
    bytes += static_cast<std::uint64_t>(PyBytes_Size(item));
  }
  return true;
}

void Caller::respond_file(const WrappedFile& file) {
  if (!has_head()) return;
  if (!answer_.begun()) answer_.know_length(file.length);
  answer_.add_file(file.descriptor, file.offset, file.length);
  complete();
}

void Caller::respond_iterable(PyObject* iterable) {
  single_ = has_length_one(iterable);
  iterator_ = Ref::steal(PyObject_GetIter(iterable));
  if (!iterator_) response_is_bad("the application's result cannot be iterated");
}

bool Caller::wants_chunk() { return answer_.wanted() && !(answer_.headed() && answer_.bodiless()); }

void Caller::iterate() {
  if (wants_chunk()) {
    Ref chunk = Ref::steal(PyIter_Next(iterator_.get()));
    if (chunk && add_chunk(chunk.get(), single_)) return;
  }
  finish_iterable();
  iterator_ = {};
}

void Caller::finish_iterable() {
  if (answer_.ended()) return;
  if (PyErr_Occurred() != nullptr) return application_failed("the application's iterable raised");
  if (!answer_.wanted()) return answer_.fail(AbortReason::cancelled);
  if (!has_head()) return;
  if (!answer_.begun()) answer_.know_length(0);
  complete();
}

/// Sends one chunk. The first leaves at once; what follows gathers while the application computes
/// the next, and leaves within some 2 ms. False: stop iterating.
bool Caller::add_chunk(PyObject* chunk, bool single) {
  if (!is_bytes(chunk)) {
    response_is_bad("the response is not valid");
    return false;
  }
  if (PyBytes_Size(chunk) == 0) return true;
  if (!has_head()) return false;
  bool first = !answer_.begun();
  if (first && single) answer_.know_length(static_cast<std::uint64_t>(PyBytes_Size(chunk)));
  bool more = answer_.add(bytes_of(chunk));
  bool whole = answer_.room() == 0;
  answer_.pass_on(first && !whole ? Answer::Pace::now : Answer::Pace::soon);
  return more;
}

/// Whether an answer can be sent; if not, it has been refused.
bool Caller::has_head() {
  if (answer_.headed()) return true;
  raise(PyExc_AssertionError, "start_response was not called before the response's body");
  response_is_bad("the response is not valid");
  return false;
}

/// Whether len() says 1: then the first chunk is all of the body (PEP 3333 "Handling the
/// Content-Length Header").
bool Caller::has_length_one(PyObject* iterable) {
  if (Py_TYPE(iterable) == without_len_) return false;
  Py_ssize_t length = PyObject_Size(iterable);
  if (length >= 0) return length == 1;
  PyErr_Clear();
  without_len_ = Py_TYPE(iterable);
  return false;
}

void Caller::complete() {
  if (!answer_.ended() && !answer_.wanted()) return answer_.fail(AbortReason::cancelled);
  answer_.finish();
}

/// close(), exactly once, after the answer was handed on. What it raises is logged, never sent.
void Caller::close(PyObject* result) {
  Ref method;
  int found = find_attribute(result, names.close, method);
  if (found > 0) {
    flusher_->arm();
    Ref closed = Ref::steal(call_nothing(method.get()));
    if (closed) return;
  }
  if (report_exception(record_, "close() raised")) leave_ = true;
}

/// An upload that breaks off is the client's affair: no traceback.
void Caller::application_failed(const char* what) {
  if (feed_.failed() && PyErr_ExceptionMatches(PyExc_ConnectionError) != 0) {
    report_briefly(record_, "the request body could not be read");
    return answer_.fail(AbortReason::input_error);
  }
  if (report_exception(record_, what)) leave_ = true;
  answer_.fail(AbortReason::application_error);
}

void Caller::response_is_bad(const char* what) {
  if (report_exception(record_, what)) leave_ = true;
  answer_.fail(AbortReason::bad_response);
}

}  // namespace portico::engine
