// Generation: the channel to the workers of one import of the code: the front's end of the queue,
// and the claim cells.
//
// Made from the descriptors that the supervisor sends; shared by the front threads, each of which
// owns a range of the cells. Once all of them have finished with it the queue has an end: its
// workers take what lies there and leave.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "backend/record/cells.h"
#include "proxy/core/fd.h"
#include "proxy/core/result.h"

namespace portico::backend {

class Generation {
 public:
  /// cells  a memfd of front_threads * cells_per_thread cells, sealed against shrinking
  static core::Result<std::shared_ptr<Generation>> open(std::uint64_t number, core::Fd queue,
                                                        core::Fd cells, unsigned front_threads);
  Generation(const Generation&) = delete;
  Generation& operator=(const Generation&) = delete;
  ~Generation();

  std::uint64_t number() const { return number_; }
  int queue() const { return queue_.get(); }
  record::Cells& cells() { return cells_; }
  std::uint32_t cells_per_thread() const { return cells_per_thread_; }

  /// The front thread that calls sends nothing more. True: it was the last that did.
  bool finish();

 private:
  Generation(std::uint64_t number, core::Fd queue, void* memory, std::size_t bytes,
             unsigned front_threads);

  std::uint64_t number_;
  core::Fd queue_;
  void* memory_;
  std::size_t bytes_;
  record::Cells cells_;
  std::uint32_t cells_per_thread_;
  std::atomic<unsigned> senders_;  // front threads that have not finished
};

}  // namespace portico::backend
