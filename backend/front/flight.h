// Flight: one record on its way to a worker and back. AnswerSink: who gets its answer.
//
// Flights belong to the Lane of a front thread, which keeps and reuses them; a sink only borrows
// one. A flight whose sink has left goes on as an orphan until its worker is done with it: so long
// it holds its slot, since the worker is really busy.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "backend/front/generation.h"
#include "backend/record/buffer.h"
#include "backend/record/frame_reader.h"
#include "proxy/core/admission.h"
#include "proxy/core/bytes.h"
#include "proxy/core/fd.h"
#include "proxy/core/piece.h"
#include "proxy/core/timer.h"

namespace portico::backend {

class Flight;
class QueueSocket;
class WorkerLink;

/// Whose request it is: what Portico asks by itself neither wakes an application nor is use of it.
enum class Asker : std::uint8_t { client, probe };

/// Gets the answer of one flight. Every call but full() may end the flight's use to the sink.
class AnswerSink {
 public:
  /// Writes the record of this request into the flight (cell and serial are set by the flight),
  /// once it has its turn. False: the sink has failed its exchange and left.
  virtual bool write_record(Flight& flight) = 0;
  virtual void on_interim(const record::AnswerHead& head) = 0;
  virtual void on_head(const record::AnswerHead& head) = 0;
  virtual void on_data(core::Slice bytes) = 0;
  virtual void on_file(core::FileRange range) = 0;
  virtual void on_end() = 0;  ///< complete; the flight is gone after this call
  virtual void on_abort(record::AbortReason reason) = 0;  ///< likewise
  /// The worker that had claimed it died. True: send it again (the sink's rule); else the flight is
  /// gone after this call.
  virtual bool on_worker_lost(unsigned deaths) = 0;
  /// No worker will take it: the application has failed, or its queue. The flight is gone already.
  virtual void on_unavailable() = 0;
  /// More of the answer cannot be held now: the link stops reading until resume().
  virtual bool full() const = 0;

 protected:
  ~AnswerSink() = default;
};

class Flight final : public core::Active {
 public:
  enum class State {
    free,      ///< in the lane's store
    waiting,   ///< for a slot of the application
    boarding,  ///< has a slot and a cell; the record waits to be sent this turn or when there is
               ///< room
    sent,      ///< the record lies in the queue, or a worker has it
    orphaned,  ///< as sent, but nobody wants the answer
  };

  Flight(core::Loop& loop, class Lane& lane)
      : Active(loop), lane_(lane), ticket_(*this), patience_(*this) {}

  State state() const { return state_; }
  std::uint32_t cell() const { return cell_; }
  std::uint32_t serial() const { return serial_; }
  record::Buffer& record() { return record_; }
  /// Bytes of the sink's that belong behind the record; needed until it has been sent.
  std::string_view& inline_body() { return inline_body_; }
  core::Fd& body() { return body_; }
  unsigned deaths() const { return deaths_; }

  /// The claim as the cell tells it; nonsense there is the worker's lie.
  record::CellStatus claim() const;
  /// Whether a worker has begun it.
  bool claimed() const;
  /// Takes an unbegun record back; the flight is gone then. False: a worker has begun it.
  bool withdraw();
  /// Its worker has had its time and more: the supervisor is told. Only of one that is claimed.
  void report_hang();
  /// The sink leaves: an unbegun record is taken back, a running one cancelled. A worker that is
  /// not done with it timeouts.response later hangs.
  void abandon();
  /// There is room for more of the answer again.
  void resume();

  void advance() override;  ///< the ticket was admitted, or nobody waits for it any more

 private:
  friend class Lane;
  friend class LoopWorker;
  friend class QueueSocket;
  friend class WorkerLink;

  /// The kernel has taken the record. The worker's end of a feed must not stay open here.
  void sent() {
    state_ = State::sent;
    body_.reset();
    inline_body_ = {};
  }

  class Lane& lane_;
  core::Ticket ticket_;
  AnswerSink* sink_ = nullptr;
  Asker asker_ = Asker::client;
  State state_ = State::free;
  std::shared_ptr<Generation> generation_;
  QueueSocket* queue_ = nullptr;  // that of its generation, while it has a cell
  std::uint32_t cell_ = 0;
  std::uint32_t serial_ = 0;
  unsigned deaths_ = 0;
  core::Timer patience_;  // with the worker of an orphan
  record::Buffer record_;
  std::string_view inline_body_;
  core::Fd body_;
  WorkerLink* stopped_link_ = nullptr;  // reads no more until resume()
  core::Wakeup room_;                   // the loop's worker, likewise
};

}  // namespace portico::backend
