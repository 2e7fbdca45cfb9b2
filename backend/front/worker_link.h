// WorkerLink: the front thread's end of the stream on which one worker thread answers.
//
// Owned by the thread's Lane. Reads frames at full speed and hands each to its flight; stops while
// that flight's sink is full. What a worker says is checked (record/frame_reader, and the claim in
// the cell); a worker that lies loses its link and is reported.
#pragma once

#include <cstdint>

#include "backend/front/flight.h"
#include "backend/front/worker_tally.h"
#include "backend/record/frame_reader.h"
#include "proxy/core/loop.h"
#include "proxy/core/watch.h"

namespace portico::backend {

class Lane;

class WorkerLink final : public core::Active, public core::ReadyListener {
 public:
  /// Whose stream it is.
  struct Origin {
    std::uint64_t generation = 0;
    std::uint16_t worker = 0;
    std::uint8_t thread = 0;
    SharedTally tally;
  };

  WorkerLink(Lane& lane, core::Loop& loop, Origin origin, core::Fd fd);

  std::uint16_t worker() const { return origin_.worker; }
  std::uint64_t generation() const { return origin_.generation; }
  void resume();
  void advance() override;
  /// Reads what a dead worker left, whether sinks are full or not. After this the link is closed.
  void read_to_end();

 private:
  enum class Outcome { again, wait, closed };

  void on_ready(int readiness) noexcept override;
  Outcome read_once();
  Outcome lost_descriptors(int fd);
  bool take(const core::Slice& bytes);
  bool dispatch(record::FrameEvent event, const core::Slice& bytes);
  void deliver(Flight& flight, record::FrameEvent event, const core::Slice& bytes);
  void deliver_file(Flight& flight);
  bool claims(const Flight& flight) const;
  void count_answer();
  void note_answer();
  bool lied();
  void close();

  Lane& lane_;
  Origin origin_;
  core::Fd fd_;
  core::Watch watch_;
  record::FrameReader reader_;
  core::Slice unread_;  // input that was left when a sink became full
  bool stopped_ = false;
  bool has_answered_ = false;
  bool draining_ = false;  // read_to_end: nothing stops the reading
};

}  // namespace portico::backend
