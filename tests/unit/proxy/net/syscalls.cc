// These definitions stand before those of libc and of our libraries in the executable's symbol
// order.
#include "tests/unit/proxy/net/syscalls.h"

#include <sys/epoll.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "proxy/net/plain_call.h"

namespace portico::tests {
thread_local Syscalls syscalls;
}

using portico::tests::syscalls;

namespace portico::net {

ssize_t plain_recv(int fd, void* bytes, std::size_t size, int flags) {
  ++syscalls.recv;
  return ::recvfrom(fd, bytes, size, flags, nullptr, nullptr);
}

ssize_t plain_send(int fd, const void* bytes, std::size_t size, int flags) {
  ++syscalls.send;
  return ::sendto(fd, bytes, size, flags, nullptr, 0);
}

}  // namespace portico::net

extern "C" {

ssize_t sendmsg(int fd, const msghdr* message, int flags) {
  ++syscalls.sendmsg;
  return ::syscall(SYS_sendmsg, fd, message, flags);
}

ssize_t sendfile(int out, int in, off_t* offset, size_t count) noexcept {
  ++syscalls.sendfile;
  return ::syscall(SYS_sendfile, out, in, offset, count);
}

ssize_t splice(int in, off64_t* in_offset, int out, off64_t* out_offset, size_t size,
               unsigned flags) {
  ++syscalls.splice;
  return ::syscall(SYS_splice, in, in_offset, out, out_offset, size, flags);
}

int epoll_ctl(int epoll, int operation, int fd, epoll_event* event) noexcept {
  ++syscalls.epoll_ctl;
  return static_cast<int>(::syscall(SYS_epoll_ctl, epoll, operation, fd, event));
}
}
