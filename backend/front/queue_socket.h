// QueueSocket: one front thread's view of a generation: its cells, and the records it puts into the
// queue.
//
// Owned by the thread's Lane, as long as it has flights. The records of one loop turn leave with
// one sendmmsg, and share datagrams where a single thread takes them; when the kernel takes no
// more, the rest waits here until the socket is writable, or for a moment where the kernel is short
// of something. A record that it refuses for good goes back to the lane.
#pragma once

#include <sys/uio.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "backend/front/flight.h"
#include "proxy/core/loop.h"
#include "proxy/core/timer.h"
#include "proxy/core/watch.h"

namespace portico::backend {

class QueueSocket final : public core::Active, public core::ReadyListener {
 public:
  QueueSocket(core::Loop& loop, std::shared_ptr<Generation> generation);

  const std::shared_ptr<Generation>& generation() const { return generation_; }

  /// Gives the flight a cell of this thread; false: none is free.
  bool board(Flight& flight);
  /// Sends the flight's record at the end of this turn.
  void put(Flight& flight);
  /// Whether small records may share a datagram: only where one thread takes all of them, so that
  /// none waits behind a slow call while another thread is idle.
  void share_datagrams(bool may) { shares_ = may; }
  /// Whether a worker may have had several in hand since this was asked last.
  bool has_shared() { return std::exchange(has_shared_, false); }
  /// Takes the flight out: its cell is free again (it is done, revoked, or its worker is dead).
  void leave(Flight& flight);
  /// The flight of this cell under this serial; null when there is none any more.
  Flight* find(std::uint32_t cell, std::uint32_t serial);
  template <typename F>
  void for_each(F&& f) {
    for (std::size_t i = 0; i < flights_.size(); ++i) {
      if (flights_[i] != nullptr) f(*flights_[i]);
    }
  }
  std::size_t count() const { return flights_.size() - free_.size(); }

  void advance() override;  ///< sends

 private:
  void on_ready(int readiness) noexcept override;
  bool send_batch();
  std::size_t records_of_one(std::size_t first, std::size_t most) const;
  static std::size_t bytes_of(const Flight& flight);
  static std::size_t place(Flight& flight, iovec* two);
  void note_sent(std::size_t records);
  bool explain(int os);
  void refuse_first(int os);
  std::uint32_t index(std::uint32_t cell) const { return cell - first_; }

  std::shared_ptr<Generation> generation_;
  core::Watch watch_;
  std::uint32_t first_;                 // of the thread's range
  std::vector<std::uint32_t> serials_;  // counted here, never read back from shared memory
  std::vector<Flight*> flights_;
  std::vector<std::uint32_t> free_;
  std::deque<Flight*> outbox_;
  bool shares_ = false;
  bool has_shared_ = false;
  core::Timer retry_;  // of what the kernel was short of
};

}  // namespace portico::backend
