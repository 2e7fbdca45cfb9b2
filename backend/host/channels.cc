#include "backend/host/channels.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <span>
#include <utility>

#include "proxy/net/channel.h"

#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U  // Linux 6.3; Debian 12's headers do not have it yet
#endif

namespace portico::backend {
namespace {

using core::Error;
using core::Fault;
using core::Fd;
using core::Result;

constexpr int all_seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

Error failed(std::string_view doing) { return Error{Fault::internal, errno, doing}; }

bool socket_pair(int type, Fd& first, Fd& second) {
  int ends[2];
  if (::socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends) != 0) return false;
  first.reset(ends[0]);
  second.reset(ends[1]);
  return true;
}

bool set_nonblocking(const Fd& fd) {
  return ::fcntl(fd.get(), F_SETFL, ::fcntl(fd.get(), F_GETFL) | O_NONBLOCK) == 0;
}

Result<Fd> sealed_memory(std::size_t bytes) {
  Fd fd(::memfd_create("portico-cells", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd || ::ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0 ||
      ::fcntl(fd.get(), F_ADD_SEALS, all_seals) != 0)
    return failed("making the claim cells");
  return fd;
}

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

Result<Channels> Channels::make(unsigned front_threads) {
  Channels channels;
  if (!socket_pair(SOCK_SEQPACKET, channels.front_queue, channels.worker_queue))
    return failed("making the queue of an application");
  const std::size_t bytes = record::Cells::bytes_for(std::size_t{front_threads} * cells_per_thread);
  auto memory = sealed_memory(bytes);
  if (!memory) return memory.error();
  channels.cells = std::move(*memory);
  void* mapped =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, channels.cells.get(), 0);
  if (mapped == MAP_FAILED) return failed("mapping the claim cells");
  channels.memory_ = mapped;
  channels.view_ = record::Cells(mapped, bytes);
  return channels;
}

Channels::Channels(Channels&& other) noexcept
    : front_queue(std::move(other.front_queue)),
      worker_queue(std::move(other.worker_queue)),
      cells(std::move(other.cells)),
      memory_(std::exchange(other.memory_, nullptr)),
      view_(std::exchange(other.view_, {})) {}

Channels& Channels::operator=(Channels&& other) noexcept {
  std::swap(front_queue, other.front_queue);
  std::swap(worker_queue, other.worker_queue);
  std::swap(cells, other.cells);
  std::swap(memory_, other.memory_);
  std::swap(view_, other.view_);
  return *this;
}

Channels::~Channels() {
  if (memory_ != nullptr) ::munmap(memory_, record::Cells::bytes_for(view_.count()));
}

void Channels::revoke_all() {
  for (std::uint32_t cell = 0; cell < view_.count(); ++cell) {
    const record::CellStatus status = view_.look(cell);
    if (status.state == record::CellState::sent) view_.revoke(cell, status.serial);
  }
}

bool Channels::any_claim(std::uint16_t worker, const ThreadSet& left_out) const {
  for (std::uint32_t cell = 0; cell < view_.count(); ++cell) {
    const record::CellStatus status = view_.look(cell);
    if (record::Cells::running(status.state) && status.worker == worker &&
        !left_out.test(status.thread))
      return true;
  }
  return false;
}

Result<WorkerEnds> make_worker_ends(unsigned threads, unsigned front_threads) {
  WorkerEnds ends;
  for (unsigned i = 0; i < threads * front_threads; ++i) {
    Fd front;
    Fd worker;
    if (!socket_pair(SOCK_STREAM, front, worker) || !set_nonblocking(front))
      return failed("making the sockets of a worker");
    ends.front.push_back(std::move(front));
    ends.worker.push_back(std::move(worker));
  }
  auto control = net::Channel::pair();
  if (!control) return control.error();
  ends.our_control = std::move(control->first);
  ends.worker_control = std::move(control->second);
  return ends;
}

std::vector<Announcement> announcements(std::uint16_t worker, unsigned threads,
                                        const WorkerEnds& ends) {
  std::vector<int> fds;
  for (const Fd& fd : ends.front) fds.push_back(fd.get());
  const std::size_t row = fds.size() / std::max(threads, 1u);
  const std::size_t rows_at_once = record::max_control_descriptors / std::max<std::size_t>(row, 1);
  std::vector<Announcement> parts;
  std::size_t first = 0;
  do {
    const std::size_t rows =
        std::min<std::size_t>(std::max<std::size_t>(rows_at_once, 1), threads - first);
    const auto part = std::span(fds).subspan(first * row, rows * row);
    parts.push_back({record::ControlMessage{"worker", {}}, {part.begin(), part.end()}});
    parts.back().message.set("worker", std::uint64_t{worker});
    parts.back().message.set("threads", std::uint64_t{threads}).set("first", std::uint64_t{first});
    first += rows;
  } while (first < threads);
  return parts;
}

Result<Fd> sealed_copy(const char* name, std::string_view bytes) {
  constexpr unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
  Fd fd(::memfd_create(name, flags | MFD_EXEC));
  if (!fd && errno == EINVAL) fd.reset(::memfd_create(name, flags));  // an older kernel
  if (!fd || !write_all(fd.get(), bytes) ||
      ::fcntl(fd.get(), F_ADD_SEALS, all_seals | F_SEAL_WRITE) != 0)
    return failed("making a sealed memory file");
  return fd;
}

}  // namespace portico::backend
