#include "backend/engine/worker.h"

#include <pthread.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "backend/engine/report.h"

namespace portico::engine {

Worker worker;

namespace {

/// How often a worker that never waits looks at its control socket.
constexpr std::uint64_t control_interval_ns = 10000000;

/// Set in processes that the application forks off: they must never serve.
bool is_stray_child = false;

void note_stray_child() {
  is_stray_child = true;
  const WorkerSetup& setup = worker.setup();
  for (std::uint32_t i = 0; i < setup.threads * setup.front_threads; ++i)
    setup.outboxes[i].abandon();
}

void watch(int epoll, int descriptor, std::uint32_t events) {
  epoll_event event{};
  event.events = events;
  event.data.fd = descriptor;
  ::epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event);
}

}  // namespace

bool worker_is_stray() { return is_stray_child; }

bool map_cells(int descriptor, record::Cells& cells) {
  struct stat facts {};
  if (::fstat(descriptor, &facts) != 0) return PyErr_SetFromErrno(PyExc_OSError) != nullptr;
  std::size_t size = static_cast<std::size_t>(facts.st_size);
  void* memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (memory == MAP_FAILED) return PyErr_SetFromErrno(PyExc_OSError) != nullptr;
  cells = record::Cells(memory, size);
  return true;
}

void Worker::open(const WorkerSetup& setup) {
  setup_ = setup;
  flusher_.watch(setup.outboxes, setup.threads * setup.front_threads);
  pthread_atfork(nullptr, nullptr, note_stray_child);
}

void Worker::leave(const char* reason) {
  if (leaving_.exchange(true, std::memory_order_acq_rel)) return;
  const std::uint64_t one = 1;
  ssize_t ignored = ::write(setup_.stop_event, &one, sizeof one);
  char message[64];
  int size = std::snprintf(message, sizeof message, "leaving reason=%s", reason);
  if (size > 0)
    ignored = ::send(setup_.control, message, static_cast<std::size_t>(size),
                     MSG_NOSIGNAL | MSG_DONTWAIT);
  static_cast<void>(ignored);
}

void Worker::read_control() {
  char message[256];
  ssize_t size = ::recv(setup_.control, message, sizeof message, MSG_DONTWAIT);
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (size <= 0) return leave("orphaned");
  if (size >= 4 && std::memcmp(message, "stop", 4) == 0) leave("stopped");
}

WorkerThread::WorkerThread(std::uint32_t index)
    : index_(index),
      tid_(static_cast<std::uint32_t>(::syscall(SYS_gettid))),
      queue_(worker.setup().queue) {}

WorkerThread::~WorkerThread() {
  if (epoll_ >= 0) ::close(epoll_);
}

bool WorkerThread::open() {
  const WorkerSetup& setup = worker.setup();
  epoll_ = ::epoll_create1(EPOLL_CLOEXEC);
  if (epoll_ < 0) return PyErr_SetFromErrno(PyExc_OSError) != nullptr;
  // Exclusive: one record wakes one thread, the one that became idle first.
  watch(epoll_, setup.queue, EPOLLIN | EPOLLEXCLUSIVE);
  watch(epoll_, setup.control, EPOLLIN);
  watch(epoll_, setup.stop_event, EPOLLIN);
  return caller_.open(setup.application, setup.constants, setup.cells, worker.flusher());
}

// One that leaves runs what it has in hand: nobody else could take it before its process has ended.
void WorkerThread::serve() {
  while (!worker.leaving() || queue_.has_more_in_hand()) {
    if (PyErr_CheckSignals() < 0) {
      report_exception(nullptr, "a signal handler raised");
      worker.give_way("signal");
      continue;
    }
    switch (queue_.take(record_)) {
      case Queue::Taken::record:
        handle();
        break;
      case Queue::Taken::nothing:
        send_all();
        wait();
        break;
      case Queue::Taken::junk:
        report(nullptr, "a record that cannot be read was dropped");
        break;
      case Queue::Taken::closed:
        worker.leave("drained");
        break;
    }
  }
  send_all();
}

void WorkerThread::handle() {
  if (!record_is_sound()) return report(nullptr, "a record with impossible numbers was dropped");
  record::Cells cells = worker.setup().cells;
  std::uint64_t now = now_ns();
  if (!cells.claim(record_.cell, record_.serial, worker.setup().id,
                   static_cast<std::uint8_t>(index_), now, tid_))
    return;
  if (anything_gathered() && !worker.flusher().arm()) send_all();
  bool is_feed = record_.body_place == record::BodyPlace::feed;
  int body = is_feed ? queue_.release_body() : queue_.body();
  bool stays = caller_.run(record_, body, outbox_of(record_.front_thread));
  if (is_stray_child) ::_exit(0);
  if (!stays) worker.give_way("exit");
  look_at_control(now);
}

bool WorkerThread::record_is_sound() const {
  return worker.setup().cells.contains(record_.cell) &&
         record_.front_thread < worker.setup().front_threads;
}

Outbox& WorkerThread::outbox_of(std::uint16_t front_thread) {
  return worker.setup().outboxes[index_ * worker.setup().front_threads + front_thread];
}

bool WorkerThread::anything_gathered() {
  for (std::uint32_t i = 0; i < worker.setup().front_threads; ++i) {
    if (!outbox_of(static_cast<std::uint16_t>(i)).empty()) return true;
  }
  return false;
}

void WorkerThread::send_all() {
  for (std::uint32_t i = 0; i < worker.setup().front_threads; ++i) {
    Outbox& outbox = outbox_of(static_cast<std::uint16_t>(i));
    if (!outbox.empty()) outbox.send();
  }
}

void WorkerThread::wait() {
  epoll_event events[4];
  PyThreadState* state = PyEval_SaveThread();
  int count = ::epoll_wait(epoll_, events, 4, -1);
  PyEval_RestoreThread(state);
  for (int i = 0; i < count; ++i) {
    if (events[i].data.fd == worker.setup().control) worker.read_control();
  }
}

void WorkerThread::look_at_control(std::uint64_t now) {
  if (now - control_looked_ns_ < control_interval_ns) return;
  control_looked_ns_ = now;
  worker.read_control();
}

}  // namespace portico::engine
