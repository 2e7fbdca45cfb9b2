// FakeWorker: the worker's side of the hand-over without Python: takes records, claims cells, sends
// frames, or lies. FakeChannels: what the supervisor makes for it. Of the test; one thread.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "backend/record/cells.h"
#include "backend/record/frame.h"
#include "backend/record/record.h"
#include "proxy/core/fd.h"

namespace portico::tests {

/// The queue and the cells of one generation.
class FakeChannels {
 public:
  /// send_buffer  SO_SNDBUF of the front's end as the kernel doubles it; 0: the default
  explicit FakeChannels(std::size_t cell_count, int send_buffer = 0) {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
      throw std::runtime_error("no queue");
    front_queue = core::Fd(ends[0]);
    worker_queue = core::Fd(ends[1]);
    if (send_buffer != 0)
      ::setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &send_buffer, sizeof send_buffer);
    bytes_ = record::Cells::bytes_for(cell_count);
    cells_fd = core::Fd(::memfd_create("cells", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (::ftruncate(cells_fd.get(), static_cast<off_t>(bytes_)) != 0 ||
        ::fcntl(cells_fd.get(), F_ADD_SEALS, F_SEAL_SHRINK) != 0)
      throw std::runtime_error("no cells");
    memory_ = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, cells_fd.get(), 0);
    cells = record::Cells(memory_, bytes_);
  }
  FakeChannels(const FakeChannels&) = delete;
  FakeChannels& operator=(const FakeChannels&) = delete;
  ~FakeChannels() { ::munmap(memory_, bytes_); }

  /// What a hostile worker does to a cell.
  void scribble(std::uint32_t cell, std::uint64_t word) {
    static_cast<record::Cell*>(memory_)[cell].word = word;
  }

  core::Fd front_queue;
  core::Fd worker_queue;
  core::Fd cells_fd;
  record::Cells cells;

 private:
  void* memory_ = nullptr;
  std::size_t bytes_ = 0;
};

/// A record that a worker took; the record points into `datagram`.
struct Taken {
  std::unique_ptr<std::string> datagram;
  record::Record record;
  core::Fd body;

  std::string field(std::string_view name) const {
    record::FieldCursor cursor(record);
    for (record::RecordField field; cursor.next(field);) {
      if (field.name == name) return std::string(field.value);
    }
    return "-";
  }
};

class FakeWorker {
 public:
  FakeWorker(FakeChannels& channels, std::uint16_t number) : channels_(channels), number_(number) {}

  std::uint16_t number() const { return number_; }
  /// The worker's ends of its streams, index thread * front threads + front thread.
  std::vector<core::Fd> ends;

  /// The next record that lies in the queue; nothing when there is none.
  std::optional<Taken> take() {
    if (in_hand_.empty()) return receive();
    Taken taken{std::make_unique<std::string>(std::exchange(in_hand_, {})), {}, {}};
    split(taken);
    return taken;
  }
  /// How many datagrams it has received.
  std::size_t datagrams() const { return datagrams_; }
  bool claim(const Taken& taken, std::uint8_t thread = 0, std::uint64_t now_ns = 1) {
    return channels_.cells.claim(taken.record.cell, taken.record.serial, number_, thread, now_ns);
  }
  /// Takes and claims the next record.
  std::optional<Taken> begin(std::uint64_t now_ns = 1) {
    while (auto taken = take()) {
      if (claim(*taken, 0, now_ns)) return taken;
    }
    return {};
  }
  void finish(const Taken& taken) {
    channels_.cells.finish(taken.record.cell, taken.record.serial);
  }

  void send(std::string_view bytes, std::size_t stream = 0) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(ends[stream].get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) throw std::runtime_error("the front takes no frames");
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
  }
  /// Sends bytes in one message with copies of these descriptors.
  void send_with(std::string_view bytes, const std::vector<int>& fds, std::size_t stream = 0) {
    std::vector<char> control(CMSG_SPACE(sizeof(int) * fds.size()));
    iovec part{const_cast<char*>(bytes.data()), bytes.size()};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int) * fds.size());
    std::memcpy(CMSG_DATA(header), fds.data(), sizeof(int) * fds.size());
    if (::sendmsg(ends[stream].get(), &message, MSG_NOSIGNAL) < 0) throw std::runtime_error("fds");
  }
  /// Whether the front has closed its end of a stream.
  bool closed(std::size_t stream = 0) const {
    pollfd one{ends[stream].get(), POLLIN, 0};
    return ::poll(&one, 1, 0) == 1 && (one.revents & POLLHUP) != 0;
  }

 private:
  std::optional<Taken> receive() {
    Taken taken{std::make_unique<std::string>(record::max_record_bytes, '\0'), {}, {}};
    union {
      char bytes[CMSG_SPACE(sizeof(int))];
      cmsghdr align;
    } control;
    iovec part{taken.datagram->data(), taken.datagram->size()};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.bytes;
    message.msg_controllen = sizeof control.bytes;
    const ssize_t got =
        ::recvmsg(channels_.worker_queue.get(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (got <= 0) return {};
    taken.datagram->resize(static_cast<std::size_t>(got));
    if (const cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(header), sizeof fd);
      taken.body.reset(fd);
    }
    ++datagrams_;
    split(taken);
    return taken;
  }
  /// Its first record; the others stay in hand.
  void split(Taken& taken) {
    std::string_view rest = *taken.datagram;
    if (!record::take_record(rest, taken.record)) throw std::runtime_error("record");
    in_hand_ = rest;
  }

  FakeChannels& channels_;
  std::uint16_t number_;
  std::string in_hand_;
  std::size_t datagrams_ = 0;
};

/// Frames of the answer to one record, as text.
class Frames {
 public:
  explicit Frames(const Taken& taken) : Frames(taken.record.cell, taken.record.serial) {}
  Frames(std::uint32_t cell, std::uint32_t serial) : writer_(buffer_) {
    writer_.start(cell, serial);
  }
  Frames& head(std::uint16_t status = 200, std::optional<std::uint64_t> length = {},
               std::uint8_t flags = 0) {
    writer_.begin_head(status, "");
    writer_.head_field("Content-Type", "text/plain");
    if (length) flags |= record::head_length_known;
    writer_.finish_head(flags, length.value_or(0));
    return *this;
  }
  Frames& data(std::string_view bytes) {
    writer_.data(bytes);
    return *this;
  }
  Frames& file(std::uint64_t offset, std::uint64_t length) {
    writer_.file(offset, length);
    return *this;
  }
  Frames& end() {
    writer_.end();
    return *this;
  }
  Frames& abort(record::AbortReason reason) {
    writer_.abort(reason);
    return *this;
  }
  std::string text() const { return std::string(buffer_.view()); }

 private:
  record::Buffer buffer_;
  record::FrameWriter writer_;
};

}  // namespace portico::tests
