// WorkerTally: what one worker has answered, and when the supervisor wants to hear of it.
//
// Shared by the worker's links in all front threads, which count, and by the Application, which
// reads; the numbers stand for themselves, so that no order between them is needed.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

namespace portico::backend {

struct WorkerTally {
  explicit WorkerTally(std::uint64_t told_at) : most(told_at) {}

  std::atomic<std::uint64_t> answers{0};
  const std::uint64_t most;          ///< with so many it is due; 0: never
  std::atomic<bool> watched{false};  ///< its next answer is told
};

using SharedTally = std::shared_ptr<WorkerTally>;

}  // namespace portico::backend
