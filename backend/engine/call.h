// One call of the application: environ in, frames out.
//
// One Caller a worker thread, used under the GIL. It keeps what can be used again from call to
// call. Every way a call can end (result, exception, cancellation, broken rules) ends in exactly
// one end or abort frame and exactly one close(). Source: PEP 3333 "Specification Details",
// "Handling the start_response() Callable", "Buffering and Streaming".
#pragma once

#include "backend/engine/answer.h"
#include "backend/engine/callables.h"
#include "backend/engine/environ.h"
#include "backend/engine/feed_input.h"
#include "backend/engine/flusher.h"
#include "backend/engine/input.h"
#include "backend/engine/outbox.h"
#include "backend/engine/python.h"
#include "backend/record/cells.h"
#include "backend/record/record.h"

namespace portico::engine {

struct WrappedFile;

class Caller {
 public:
  /// application  the WSGI callable, borrowed for the caller's life
  /// constants    what every environ has besides the request's own values; copied
  /// False with an exception.
  bool open(PyObject* application, PyObject* constants, record::Cells cells, Flusher& flusher);

  /// Runs one claimed request to its end. `descriptor` holds the body when the record says so, and
  /// stays the caller's, or is the body's feed, and is taken over. Afterwards the answer's last
  /// frame is in the outbox, or sent. False: the application raised SystemExit or its like; the
  /// worker must leave.
  bool run(const record::Record& record, int descriptor, Outbox& outbox);

  /// The same in steps: begin() calls the application, and while that or step() returns true there
  /// is more to do: the next chunk of the answer, or its close(). Meanwhile record, descriptor and
  /// outbox must stay.
  bool begin(const record::Record& record, int descriptor, Outbox& outbox);
  bool step();
  /// Whether the answer has ended, so that only close() may be left to do.
  bool answered() const { return answer_.ended(); }

 private:
  void call(const record::Record& record, int descriptor);
  PyObject* begin_input(const record::Record& record, int descriptor);
  CallFacts facts_of(const record::Record& record, PyObject* input) const;
  void respond(PyObject* result);
  void respond_bytes(PyObject* bytes);
  void respond_sequence(PyObject* sequence);
  void respond_file(const WrappedFile& file);
  void respond_iterable(PyObject* iterable);
  bool wants_chunk();
  void iterate();
  void finish_iterable();
  bool end();
  bool add_chunk(PyObject* chunk, bool single);
  bool sum_sequence(PyObject* sequence, std::uint64_t& bytes);
  bool has_head();
  bool has_length_one(PyObject* iterable);
  void complete();
  void close(PyObject* result);
  void application_failed(const char* what);
  void response_is_bad(const char* what);

  PyObject* application_ = nullptr;
  Ref errors_;
  EnvironMaker environs_;
  InputSlot input_;
  FeedSlot feed_;
  Callables callables_;
  Answer answer_;
  record::Cells cells_;
  Flusher* flusher_ = nullptr;
  const record::Record* record_ = nullptr;
  Ref environ_;
  Ref result_;
  Ref iterator_;         ///< of result_, while chunks are asked for
  bool single_ = false;  ///< its first chunk is all of the body
  PyTypeObject* without_len_ =
      nullptr;  ///< the last type seen without __len__; only compared, never used
  bool leave_ = false;
};

}  // namespace portico::engine
