// A small thread without the GIL that sends gathered answers after a millisecond, so that no answer
// and no chunk waits behind a slow call of the application.
//
// One a process, started at the first gathering. It ticks each millisecond while anything gathers,
// and sleeps on a futex otherwise; arm() costs a load when it is awake.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "backend/engine/outbox.h"

namespace portico::engine {

class Flusher {
 public:
  /// The outboxes to look after; the array must outlive the process.
  void watch(Outbox* outboxes, std::size_t count) {
    outboxes_ = outboxes;
    count_ = count;
  }
  /// Something has gathered: it will be sent within some 2 ms. Called under the GIL.
  /// False: there is no thread to be had; the caller must send at once.
  bool arm();
  /// There never is one: whoever adds sends.
  void stay_off() { state_.store(off, std::memory_order_seq_cst); }

 private:
  enum State : std::uint32_t { not_started = 0, asleep = 1, awake = 2, off = 3 };

  bool start();
  static void* main(void* self);
  void run();
  bool tick();

  Outbox* outboxes_ = nullptr;
  std::size_t count_ = 0;
  std::atomic<std::uint32_t> state_{not_started};
};

}  // namespace portico::engine
