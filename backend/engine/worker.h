// The worker: takes records, claims them, has them answered, and leaves when told.
//
// One Worker a process, made after the fork (open) and living as long as the process; one
// WorkerThread for each of its Python threads, running serve(). The GIL is given up while a thread
// waits. What ends a worker: `stop` or end of file on its control socket, the end of its queue, or
// an application that raises SystemExit or its like.
#pragma once

#include <atomic>
#include <cstdint>

#include "backend/engine/call.h"
#include "backend/engine/flusher.h"
#include "backend/engine/outbox.h"
#include "backend/engine/python.h"
#include "backend/engine/queue.h"
#include "backend/record/cells.h"

namespace portico::engine {

/// What a worker is made of; descriptors are the process's for its whole life.
struct WorkerSetup {
  PyObject* application = nullptr;  ///< borrowed for ever
  PyObject* constants = nullptr;    ///< likewise: a dict for every environ
  int queue = -1;
  int control = -1;
  int stop_event = -1;  ///< an eventfd: readable once the worker is to leave
  record::Cells cells;
  std::uint16_t id = 0;
  std::uint32_t threads = 1;
  std::uint32_t front_threads = 1;
  bool embedded = false;       ///< in the front: nothing could take its place
  Outbox* outboxes = nullptr;  ///< index thread × front_threads + front thread
};

/// The process's worker, shared by its threads.
class Worker {
 public:
  void open(const WorkerSetup& setup);
  const WorkerSetup& setup() const { return setup_; }
  Flusher& flusher() { return flusher_; }

  /// Tells all threads to leave, and once the supervisor that no more will be taken. `reason` is a
  /// word.
  void leave(const char* reason);
  /// Something went wrong that another process would do without: it leaves to be replaced, unless
  /// it is embedded.
  void give_way(const char* reason) {
    if (!setup_.embedded) leave(reason);
  }
  bool leaving() const { return leaving_.load(std::memory_order_acquire); }
  /// Looks at the control socket, without waiting.
  void read_control();

 private:
  WorkerSetup setup_;
  Flusher flusher_;
  std::atomic<bool> leaving_{false};
};
extern Worker worker;

/// Whether this is a process that the application has forked off, which must never serve.
bool worker_is_stray();

/// Maps the claim cells for the process's life; false with an exception.
bool map_cells(int descriptor, record::Cells& cells);

/// One thread of the worker.
class WorkerThread {
 public:
  /// In the thread itself.
  explicit WorkerThread(std::uint32_t index);
  WorkerThread(const WorkerThread&) = delete;
  WorkerThread& operator=(const WorkerThread&) = delete;
  ~WorkerThread();

  /// False with an exception.
  bool open();
  /// Serves until the worker leaves. Needs the GIL.
  void serve();

 private:
  void handle();
  bool record_is_sound() const;
  Outbox& outbox_of(std::uint16_t front_thread);
  bool anything_gathered();
  void send_all();
  void wait();
  void look_at_control(std::uint64_t now);

  std::uint32_t index_;
  std::uint32_t tid_;
  int epoll_ = -1;
  std::uint64_t control_looked_ns_ = 0;
  record::Record record_;
  Queue queue_;
  Caller caller_;
};

}  // namespace portico::engine
