// The worker's end of the application's queue: takes a datagram at a time, and gives its records
// one by one.
//
// One a worker thread, with its own memory; several threads and processes take from the same
// socket.
#pragma once

#include <cstdint>
#include <string_view>

#include "backend/record/record.h"

namespace portico::engine {

class Queue {
 public:
  enum class Taken : std::uint8_t {
    record,
    nothing,  ///< the queue is empty for now
    junk,     ///< something that is no record; dropped
    closed,   ///< the front has shut the queue down, and all of it has been taken
  };

  explicit Queue(int descriptor) : descriptor_(descriptor) {}
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;
  ~Queue() { drop_body(); }

  /// Gives what is next, without waiting. A record's views last until the next take(). What is in
  /// hand and never claimed is not lost: the front takes it back when the worker has gone.
  Taken take(record::Record& record);
  /// Whether the next take() gives what came with the last one.
  bool has_more_in_hand() const { return !in_hand_.empty(); }
  /// The descriptor that came with the record, or -1; the queue closes it (drop_body, or the next
  /// take).
  int body() const { return body_; }
  void drop_body();
  /// The same descriptor, which becomes the caller's.
  int release_body() {
    int body = body_;
    body_ = -1;
    return body;
  }

 private:
  Taken receive();

  int descriptor_;
  int body_ = -1;
  std::string_view in_hand_;  ///< of bytes_: the records that were not given yet
  alignas(16) char bytes_[record::max_record_bytes];
};

}  // namespace portico::engine
