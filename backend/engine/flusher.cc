#include "backend/engine/flusher.h"

#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace portico::engine {
namespace {

constexpr long tick_ns = 1000000;
/// With ticks of 1 ms nothing waits longer than 1.5 ms and the scheduler's delay.
constexpr std::uint64_t old_ns = 500000;
/// After so many ticks without work the thread sleeps.
constexpr int idle_ticks = 20;
/// Enough for this thread, also under sanitizers.
constexpr std::size_t stack_bytes = std::size_t{256} * 1024;

void futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value) {
  ::syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), operation, value, nullptr, nullptr,
            0);
}

}  // namespace

bool Flusher::arm() {
  std::uint32_t state = state_.load(std::memory_order_seq_cst);
  if (state == awake) return true;
  if (state == off) return false;
  state_.store(awake, std::memory_order_seq_cst);
  if (state == asleep) {
    futex(state_, FUTEX_WAKE_PRIVATE, 1);
    return true;
  }
  if (start()) return true;
  state_.store(not_started, std::memory_order_seq_cst);
  return false;
}

bool Flusher::start() {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, stack_bytes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  pthread_t thread;
  bool started = pthread_create(&thread, &attributes, &Flusher::main, this) == 0;
  pthread_attr_destroy(&attributes);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return started;
}

void* Flusher::main(void* self) {
  static_cast<Flusher*>(self)->run();
  return nullptr;
}

void Flusher::run() {
  int idle = 0;
  for (;;) {
    timespec pause{0, tick_ns};
    ::nanosleep(&pause, nullptr);
    idle = tick() ? 0 : idle + 1;
    if (idle < idle_ticks) continue;
    // Said before the last look: whoever adds after that look sees `asleep` and wakes us.
    state_.store(asleep, std::memory_order_seq_cst);
    if (!tick()) {
      while (state_.load(std::memory_order_seq_cst) == asleep)
        futex(state_, FUTEX_WAIT_PRIVATE, asleep);
    }
    state_.store(awake, std::memory_order_seq_cst);
    idle = 0;
  }
}

bool Flusher::tick() {
  bool worked = false;
  for (std::size_t i = 0; i < count_; ++i) worked = outboxes_[i].send_old(old_ns) || worked;
  return worked;
}

}  // namespace portico::engine
