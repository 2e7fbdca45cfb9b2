#include "proxy/net/channel.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

namespace portico::net {
namespace {

using core::Error;
using core::Fault;
using core::Fd;

// A datagram is the text itself, since not every other side is a Channel (a zygote is not). This
// one instead says that the text lies in the first descriptor.
constexpr std::string_view text_in_file("\0", 1);
constexpr std::size_t control_bytes = CMSG_SPACE(sizeof(int) * (Channel::fds_limit + 1));

// How long to wait when there is no room for descriptors that were sent.
constexpr auto retry_time = std::chrono::milliseconds(100);

Error gone(int os) { return {Fault::endpoint_closed, os, "reading a message"}; }

// The kernel keeps the order and the count: each descriptor becomes ours, and is closed if unused.
std::vector<Fd> take_descriptors(msghdr& header) {
  std::vector<Fd> fds;
  for (cmsghdr* part = CMSG_FIRSTHDR(&header); part != nullptr; part = CMSG_NXTHDR(&header, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(part) + i * sizeof fd, sizeof fd);
      fds.emplace_back(fd);
    }
  }
  return fds;
}

/// A datagram that lies in the socket, and stays there.
struct Datagram {
  std::string_view text;
  std::vector<Fd> fds;
  int os = 0;
  bool cut = false;         ///< it is larger than the rules allow
  bool lacks_room = false;  ///< this process has no room for its descriptors
};

Datagram peek(int socket, std::span<char> bytes) {
  alignas(cmsghdr) std::array<char, control_bytes> control;
  iovec into{bytes.data(), bytes.size()};
  msghdr header{};
  header.msg_iov = &into;
  header.msg_iovlen = 1;
  header.msg_control = control.data();
  header.msg_controllen = control.size();
  constexpr int flags = MSG_PEEK | MSG_CMSG_CLOEXEC | MSG_DONTWAIT;
  ssize_t got = ::recvmsg(socket, &header, flags);
  // It has left something of ours unread. That is told once, and what it said lies behind it.
  if (got < 0 && errno == ECONNRESET) got = ::recvmsg(socket, &header, flags);
  Datagram found;
  if (got < 0) found.os = errno;
  if (got <= 0) return found;
  found.text = {bytes.data(), static_cast<std::size_t>(got)};
  found.fds = take_descriptors(header);
  const bool too_few = (header.msg_flags & MSG_CTRUNC) != 0;
  found.lacks_room = too_few && found.fds.size() <= Channel::fds_limit;
  found.cut = too_few || (header.msg_flags & MSG_TRUNC) != 0;
  return found;
}

void put_descriptors(msghdr& header, std::span<char> control, std::span<const int> fds) {
  if (fds.empty()) return;
  header.msg_control = control.data();
  header.msg_controllen = CMSG_SPACE(fds.size_bytes());
  cmsghdr* part = CMSG_FIRSTHDR(&header);
  part->cmsg_level = SOL_SOCKET;
  part->cmsg_type = SCM_RIGHTS;
  part->cmsg_len = CMSG_LEN(fds.size_bytes());
  std::memcpy(CMSG_DATA(part), fds.data(), fds.size_bytes());
}

Fd file_of(std::string_view text) {
  Fd file(::memfd_create("message", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  while (file && !text.empty()) {
    const ssize_t written = ::write(file.get(), text.data(), text.size());
    if (written <= 0) return {};
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  ::fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL);
  return file;
}

// Only what cannot change or shrink any more is believed to be a text.
std::optional<std::string> text_of(int file) {
  constexpr int needed = F_SEAL_SHRINK | F_SEAL_WRITE;
  struct stat status {};
  const int seals = ::fcntl(file, F_GET_SEALS);
  if (seals < 0 || (seals & needed) != needed || ::fstat(file, &status) != 0) return std::nullopt;
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size > Channel::file_limit) return std::nullopt;
  std::string text(size, '\0');
  const ssize_t got = ::pread(file, text.data(), size, 0);
  if (got != status.st_size) return std::nullopt;
  return text;
}

// Of the bytes and descriptors of one datagram; nothing when the other side broke the rules.
std::optional<Message> message_of(std::string_view bytes, std::vector<Fd> fds) {
  if (bytes.empty()) return std::nullopt;
  if (bytes.front() != text_in_file.front()) return Message{std::string(bytes), std::move(fds)};
  if (bytes != text_in_file || fds.empty()) return std::nullopt;
  auto text = text_of(fds.front().get());
  if (!text) return std::nullopt;
  fds.erase(fds.begin());
  return Message{std::move(*text), std::move(fds)};
}

std::size_t cost_of(std::string_view text, std::size_t fds) {
  return text.size() + Channel::message_cost + fds * Channel::fd_cost;
}

std::vector<Fd> duplicates(std::span<const int> fds) {
  std::vector<Fd> copies;
  copies.reserve(fds.size());
  for (const int fd : fds) copies.emplace_back(::fcntl(fd, F_DUPFD_CLOEXEC, 3));
  return copies;
}

std::vector<int> numbers(const std::vector<Fd>& fds) {
  std::vector<int> out;
  out.reserve(fds.size());
  for (const Fd& fd : fds) out.push_back(fd.get());
  return out;
}

}  // namespace

core::Result<std::pair<Fd, Fd>> Channel::pair() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) != 0)
    return Error{Fault::no_descriptors, errno, "making a channel"};
  return std::pair(Fd(ends[0]), Fd(ends[1]));
}

Channel::Channel(core::Active& owner, Fd fd)
    : owner_(owner), fd_(std::move(fd)), watch_(owner.loop(), *this), retry_(owner) {
  watch_.open(fd_.get());
  watch();
}

Channel::~Channel() = default;

void Channel::on_ready(int readiness) noexcept {
  if ((readiness & core::writable) != 0) flush();
  if ((readiness & core::readable) != 0) owner_.wake();
}

void Channel::forget_queue() {
  queue_.clear();
  queued_ = 0;
}

void Channel::close() {
  closed_ = true;
  forget_queue();
  retry_.clear();
  watch_.want(0);
}

// A message is looked at first and taken then: descriptors for which there is no room get lost when
// it is taken, and so would the message.
core::Result<std::optional<Message>> Channel::receive() {
  if (closed_) return gone(0);
  if (retry_.is_set() && !retry_.due()) return std::optional<Message>();
  retry_.clear();
  watch();
  std::array<char, text_limit> bytes;
  Datagram found = peek(fd_.get(), bytes);
  if (found.os == EAGAIN || found.os == EINTR) return std::optional<Message>();
  if (found.lacks_room) {
    retry_.set_after(retry_time);
    watch();
    return std::optional<Message>();
  }
  ::recv(fd_.get(), nullptr, 0, MSG_DONTWAIT);
  auto message = found.cut ? std::nullopt : message_of(found.text, std::move(found.fds));
  if (message) return message;
  close();
  return gone(found.os);
}

void Channel::watch() {
  watch_.want((retry_.is_set() ? 0 : core::readable) | (queue_.empty() ? 0 : core::writable));
}

void Channel::send(std::string_view text, std::span<const int> fds) {
  if (closed_ || unheard_) return;
  const bool fits = !text.empty() && text.size() <= text_limit;
  if (!fits || text.front() == text_in_file.front()) return send_as_file(text, fds);
  post(text, fds);
}

void Channel::send_as_file(std::string_view text, std::span<const int> fds) {
  const Fd file = file_of(text);
  std::vector<int> all{file.get()};
  all.insert(all.end(), fds.begin(), fds.end());
  post(text_in_file, all);
}

void Channel::post(std::string_view text, std::span<const int> fds) {
  if (queue_.empty() && send_now(text, fds)) return;
  if (!unheard_) enqueue(text, fds);
}

void Channel::enqueue(std::string_view text, std::span<const int> fds) {
  queued_ += cost_of(text, fds.size());
  if (queued_ > queue_limit) {
    deaf_ = true;
    close();
    return owner_.wake();
  }
  queue_.push_back({std::string(text), duplicates(fds)});
  watch();
}

/// False: it has to wait, or nobody takes it any more (unheard_).
bool Channel::send_now(std::string_view text, std::span<const int> fds) {
  iovec part{const_cast<char*>(text.data()), text.size()};
  alignas(cmsghdr) std::array<char, control_bytes> control{};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  put_descriptors(header, control, fds);
  if (::sendmsg(fd_.get(), &header, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0) return true;
  if (errno == EAGAIN || errno == EINTR || errno == ETOOMANYREFS) return false;
  unheard_ = true;
  owner_.wake();  // its last words may lie there, and then its end
  return false;
}

void Channel::flush() {
  while (!queue_.empty()) {
    const Message& first = queue_.front();
    if (!send_now(first.text, numbers(first.fds))) break;
    queued_ -= cost_of(first.text, first.fds.size());
    queue_.pop_front();
  }
  if (unheard_) forget_queue();
  watch();
}

}  // namespace portico::net
