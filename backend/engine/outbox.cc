#include "backend/engine/outbox.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>

#include <cerrno>
#include <cstring>

#include "backend/engine/python.h"

namespace portico::engine {
namespace {

/// What an empty outbox may keep of its memory.
constexpr std::size_t kept_bytes = std::size_t{128} * 1024;

/// Holds the mutex. Taken under the GIL, which is given up while somebody else has the mutex: he
/// may need the GIL.
class Lock {
 public:
  explicit Lock(pthread_mutex_t& mutex) : mutex_(mutex) {
    if (pthread_mutex_trylock(&mutex_) == 0) return;
    PyThreadState* state = PyEval_SaveThread();
    pthread_mutex_lock(&mutex_);
    PyEval_RestoreThread(state);
  }
  ~Lock() { pthread_mutex_unlock(&mutex_); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  pthread_mutex_t& mutex_;
};

iovec io_of(std::string_view bytes) { return {const_cast<char*>(bytes.data()), bytes.size()}; }

/// One sendmsg of two parts, with a descriptor when it is not -1. Returns what sendmsg does.
ssize_t send_once(int socket, std::string_view first, std::string_view second, int descriptor) {
  iovec parts[2] = {io_of(first), io_of(second)};
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = 2;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  if (descriptor >= 0) {
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
  }
  return ::sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

bool would_block() { return errno == EAGAIN || errno == EWOULDBLOCK; }

}  // namespace

std::uint64_t now_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1000000000U +
         static_cast<std::uint64_t>(now.tv_nsec);
}

void Outbox::note_time() {
  if (gathered_.empty()) oldest_ns_ = now_ns();
}

void Outbox::add(std::string_view frames) {
  Lock lock(mutex_);
  note_time();
  gathered_.append(frames);
}

bool Outbox::add_last(std::string_view frames, std::uint32_t cell, std::uint32_t serial) {
  Lock lock(mutex_);
  note_time();
  gathered_.append(frames);
  done_[done_count_++] = {cell, serial};
  return roomy();
}

void Outbox::abandon() {
  pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;
  mutex_ = fresh;
  descriptor_ = -1;
}

bool Outbox::has_room() {
  Lock lock(mutex_);
  return roomy();
}

bool Outbox::empty() {
  Lock lock(mutex_);
  return gathered_.empty();
}

bool Outbox::send(std::string_view payload) {
  Lock lock(mutex_);
  return push(payload, -1);
}

bool Outbox::send_with_descriptor(std::string_view frame, int descriptor) {
  Lock lock(mutex_);
  return push({}, -1) && push(frame, descriptor);
}

/// The mutex is held throughout: the flusher must not send in between. It never waits for the
/// mutex.
bool Outbox::push(std::string_view payload, int descriptor) {
  if (descriptor_ < 0) {
    done_count_ = 0;
    gathered_.append(payload);
    if (descriptor >= 0) kept_descriptor_ = ::fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
    return descriptor < 0 || kept_descriptor_ >= 0;
  }
  while (!broken() && (sent_ < gathered_.size() || !payload.empty())) {
    std::string_view first(gathered_.data() + sent_, gathered_.size() - sent_);
    ssize_t part = send_once(descriptor_, first, payload, descriptor);
    if (part < 0 && !(errno == EINTR || (would_block() && wait_for_room()))) fail();
    if (part <= 0) continue;
    descriptor = -1;
    std::size_t count = static_cast<std::size_t>(part);
    std::size_t of_first = count < first.size() ? count : first.size();
    sent_ += of_first;
    payload.remove_prefix(count - of_first);
    if (sent_ == gathered_.size()) sent_all();
  }
  if (broken()) sent_all();
  return !broken();
}

/// False: the wait itself failed.
bool Outbox::wait_for_room() {
  pollfd room{descriptor_, POLLOUT, 0};
  PyThreadState* state = PyEval_SaveThread();
  int ready = ::poll(&room, 1, -1);
  int error = errno;
  PyEval_RestoreThread(state);
  return ready >= 0 || error == EINTR;
}

bool Outbox::send_old(std::uint64_t age_ns) {
  if (pthread_mutex_trylock(&mutex_) != 0) return true;
  bool waiting = !gathered_.empty() && !broken() && descriptor_ >= 0;
  if (waiting && now_ns() - oldest_ns_ >= age_ns) {
    ssize_t part =
        send_once(descriptor_, {gathered_.data() + sent_, gathered_.size() - sent_}, {}, -1);
    if (part > 0) sent_ += static_cast<std::size_t>(part);
    if (part < 0 && !would_block() && errno != EINTR) fail();
    if (sent_ == gathered_.size()) sent_all();
  }
  pthread_mutex_unlock(&mutex_);
  return waiting;
}

void Outbox::sent_all() {
  gathered_.clear();
  gathered_.trim(kept_bytes);
  sent_ = 0;
  for (std::size_t i = 0; i < done_count_; ++i) cells_.finish(done_[i].cell, done_[i].serial);
  done_count_ = 0;
}

/// The front has gone: nobody will read, so nothing is kept.
void Outbox::fail() {
  broken_.store(true, std::memory_order_relaxed);
  sent_all();
}

}  // namespace portico::engine
