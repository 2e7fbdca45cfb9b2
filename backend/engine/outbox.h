// The answers of one worker thread to one front thread: a stream socket, and what has gathered for
// it.
//
// Owned by the worker thread, which adds and sends. The flusher (flusher.h) may send what has grown
// old, hence the mutex; nobody else touches it. Claim cells are marked done here, after the bytes
// of their last frame were sent.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "backend/record/buffer.h"
#include "backend/record/cells.h"

namespace portico::engine {

/// CLOCK_MONOTONIC in nanoseconds.
std::uint64_t now_ns();

class Outbox {
 public:
  /// descriptor  the worker's end of the answer socket; -1: frames stay in memory(),
  /// nothing is sent
  void open(int descriptor, record::Cells cells) {
    descriptor_ = descriptor;
    cells_ = cells;
  }

  /// For a process that the application has forked off: it must not send a byte, nor mark a cell.
  /// Whoever held the mutex is not in this process.
  void abandon();

  /// Adds whole frames to what has gathered.
  void add(std::string_view frames);
  /// Adds an answer's last frames; its cell is marked done once they are sent. False: send() must
  /// come before the next answer, for there is no room for it to gather.
  bool add_last(std::string_view frames, std::uint32_t cell, std::uint32_t serial);

  /// Sends what has gathered, then `payload` (which is not copied), and waits until all of it is
  /// with the kernel. Needs the GIL and gives it up while waiting. False: the front is gone.
  bool send(std::string_view payload = {});
  /// Sends what has gathered, then `frame` together with a descriptor.
  bool send_with_descriptor(std::string_view frame, int descriptor);

  /// Sends what is older than `age_ns`, as far as it goes without waiting; for the flusher, without
  /// the GIL. Returns whether anything is left or was sent.
  bool send_old(std::uint64_t age_ns);

  /// Whether what is added now may wait here for what comes next.
  bool has_room();
  bool empty();
  bool broken() const { return broken_.load(std::memory_order_relaxed); }
  /// Without a socket: what was sent, until its taker clears it, and the descriptor that was sent
  /// along, a duplicate which the taker owns (-1: none).
  record::Buffer& memory() { return gathered_; }
  int take_descriptor() {
    int taken = kept_descriptor_;
    kept_descriptor_ = -1;
    return taken;
  }

 private:
  static constexpr std::size_t room_bytes = std::size_t{48} * 1024;
  static constexpr std::size_t room_answers = 32;

  struct Done {
    std::uint32_t cell;
    std::uint32_t serial;
  };

  void note_time();
  bool roomy() const { return gathered_.size() < room_bytes && done_count_ < room_answers; }
  bool push(std::string_view payload, int descriptor);
  bool wait_for_room();
  void sent_all();
  void fail();

  int descriptor_ = -1;
  int kept_descriptor_ = -1;
  std::atomic<bool> broken_{false};  ///< the front has closed the socket
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
  record::Cells cells_;
  record::Buffer gathered_;
  std::size_t sent_ = 0;         ///< bytes of gathered_ that are with the kernel
  std::uint64_t oldest_ns_ = 0;  ///< when the first of gathered_ was added
  Done done_[room_answers];      ///< cells to be marked once gathered_ is sent
  std::size_t done_count_ = 0;
};

}  // namespace portico::engine
