// The answer to one request as frames: what may be sent when, how much, and how it ends.
//
// One object a worker thread, begun anew for each request; used under the GIL. It knows HTTP's and
// PEP 3333's rules for heads and lengths, nothing of iterables (call.h) or sockets (outbox.h).
#pragma once

#include <cstdint>
#include <string_view>

#include "backend/engine/flusher.h"
#include "backend/engine/head.h"
#include "backend/engine/outbox.h"
#include "backend/engine/python.h"
#include "backend/record/cells.h"
#include "backend/record/frame.h"
#include "backend/record/record.h"

namespace portico::engine {

class Answer {
 public:
  Answer() : writer_(out_) {}

  /// How soon frames must leave.
  enum class Pace : std::uint8_t {
    now,   ///< in this call
    soon,  ///< within some 2 ms, by the flusher
  };

  void begin(const record::Record& record, record::Cells cells, Outbox& outbox, Flusher& flusher);

  /// start_response(status, headers, exc_info). exc_info is null or None when it was not given.
  /// False with an exception to be raised in the application.
  bool start(PyObject* status, PyObject* headers, PyObject* exc_info);
  /// write(data). False with an exception.
  bool write(PyObject* data);
  /// early_hints(headers): a 103 that leaves at once. False with an exception.
  bool hint(PyObject* headers);

  /// Whether start_response has given a valid head.
  bool headed() const { return stage_ >= Stage::headed; }
  /// Whether anything of the answer has been handed on, so that no other answer can take its place.
  bool begun() const { return stage_ >= Stage::begun; }
  /// Whether the answer has no body: HEAD, 204, 304. Only once headed.
  bool bodiless() const { return head_only_ || facts_.status == 204 || facts_.status == 304; }
  /// Whether the front had no more use for the answer before it ended.
  bool disconnected();
  /// Whether the front still wants the answer.
  bool wanted();
  /// How many more bytes of body may be sent: UINT64_MAX with an unknown length.
  std::uint64_t room() const;

  /// The body's length, as found out by the engine; ignored when the application gave one, or it no
  /// longer matters.
  void know_length(std::uint64_t length);
  /// Adds to the body; headed() must hold. What exceeds the length is cut, with a warning.
  /// False: no more can be used (too much, no body wanted, the front is gone).
  bool add(std::string_view bytes);
  /// As add, for a range of a file, of which as much is sent as the length allows.
  void add_file(int descriptor, std::uint64_t offset, std::uint64_t length);
  /// Hands on what add() has taken.
  void pass_on(Pace pace);

  /// Ends the answer: complete, or cut short of its length. headed() must hold.
  void finish();
  /// Ends it as not complete; sends at once.
  void fail(record::AbortReason reason);
  bool ended() const { return stage_ == Stage::ended; }

 private:
  /// In this order; `refused` goes back to headed when the application tries again with exc_info.
  enum class Stage : std::uint8_t {
    waiting,  ///< for start_response
    refused,  ///< start_response was called and raised
    headed,   ///< a valid head is in out_, and may still be replaced
    opened,   ///< the head is complete; the body follows it
    begun,    ///< something has been handed on
    ended,    ///< end or abort has been handed on
  };

  class Turn;

  bool restart(PyObject* exc_info);
  void open_body();
  bool put(std::string_view bytes);
  void put_file(int descriptor, std::uint64_t offset, std::uint64_t length);
  void hand_on(Pace pace);
  void abort(record::AbortReason reason);
  bool add_large(std::string_view bytes);
  std::string_view fitting(std::string_view bytes);
  void end(Pace pace);

  Stage stage_ = Stage::waiting;
  const record::Record* record_ = nullptr;
  Outbox* outbox_ = nullptr;
  Flusher* flusher_ = nullptr;
  record::Cells cells_;
  record::Buffer out_;  ///< frames not handed on yet; begins with the head until that is handed on
  record::FrameWriter writer_;
  HeadFacts facts_;
  std::uint64_t sent_ = 0;  ///< bytes of body
  bool head_only_ = false;
  bool may_gather_ = false;
  bool warned_ = false;
  bool disconnected_ = false;
  bool busy_ = false;  ///< see Turn
  std::uint32_t requests_ = 0;
};

}  // namespace portico::engine
