#include "backend/engine/queue.h"

#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace portico::engine {
namespace {

/// The descriptor in a message's control data, or -1. The kernel closes what had no room.
int descriptor_in(msghdr& message) {
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  if (header == nullptr || header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS)
    return -1;
  int descriptor = -1;
  std::memcpy(&descriptor, CMSG_DATA(header), sizeof descriptor);
  return descriptor;
}

}  // namespace

void Queue::drop_body() {
  if (body_ >= 0) ::close(body_);
  body_ = -1;
}

Queue::Taken Queue::take(record::Record& record) {
  drop_body();
  if (in_hand_.empty()) {
    Taken taken = receive();
    if (taken != Taken::record) return taken;
  }
  if (record::take_record(in_hand_, record)) return Taken::record;
  in_hand_ = {};
  return Taken::junk;
}

/// Record: something is in hand.
Queue::Taken Queue::receive() {
  iovec part{bytes_, sizeof bytes_};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))];
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = CMSG_LEN(sizeof(int));  // with CMSG_SPACE two would fit
  ssize_t size = ::recvmsg(descriptor_, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (size < 0)
    return errno == EAGAIN || errno == EINTR || errno == ENOMEM ? Taken::nothing : Taken::closed;
  if (size == 0) return Taken::closed;
  if (message.msg_controllen != 0) body_ = descriptor_in(message);
  if ((message.msg_flags & MSG_TRUNC) != 0) return Taken::junk;
  in_hand_ = {bytes_, static_cast<std::size_t>(size)};
  return Taken::record;
}

}  // namespace portico::engine
