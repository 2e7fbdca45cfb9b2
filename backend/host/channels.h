// Channels: what lies between the front and the workers of one application, as descriptors.
//
// The supervisor makes all of it and passes the ends on (record/README.md); it keeps the workers'
// end of the queue, for workers yet to come, and a view of the claim cells. One thread.
#pragma once

#include <cstdint>
#include <vector>

#include "backend/host/hangs.h"
#include "backend/record/cells.h"
#include "backend/record/control.h"
#include "proxy/core/fd.h"
#include "proxy/core/result.h"

namespace portico::backend {

/// Claim cells of one front thread: more than the records that may be under way for it.
inline constexpr std::uint32_t cells_per_thread = 256;

/// The queue and the cells of one generation.
class Channels {
 public:
  static core::Result<Channels> make(unsigned front_threads);
  Channels(Channels&& other) noexcept;
  Channels& operator=(Channels&& other) noexcept;
  ~Channels();

  core::Fd front_queue;  ///< the front's end; given away and closed, so that its end is the queue's
  core::Fd worker_queue;  ///< the workers' end
  core::Fd cells;

  /// Whether a thread of this worker, none of those left out, runs a record.
  bool any_claim(std::uint16_t worker, const ThreadSet& left_out) const;
  /// Takes back every record that no worker has begun: the front that sent them has gone.
  void revoke_all();

 private:
  Channels() = default;
  void* memory_ = nullptr;
  record::Cells view_;
};

/// The streams on which one worker answers, index = thread * front_threads + front thread, and its
/// control pair.
struct WorkerEnds {
  std::vector<core::Fd> front;   ///< non-blocking
  std::vector<core::Fd> worker;  ///< blocking
  core::Fd our_control;
  core::Fd worker_control;
};
core::Result<WorkerEnds> make_worker_ends(unsigned threads, unsigned front_threads);

/// A message to the front with (borrowed) descriptors.
struct Announcement {
  record::ControlMessage message;
  std::vector<int> fds;
};
/// What the front is told of a worker (threads 0: it is the front's loop): a message has room for
/// so many streams, so that one with more is told in several.
std::vector<Announcement> announcements(std::uint16_t worker, unsigned threads,
                                        const WorkerEnds& ends);

/// A sealed memfd with these bytes.
core::Result<core::Fd> sealed_copy(const char* name, std::string_view bytes);

}  // namespace portico::backend
