#include "proxy/net/plain_call.h"

#include <sys/syscall.h>
#include <unistd.h>

namespace portico::net {

ssize_t plain_recv(int fd, void* bytes, std::size_t size, int flags) {
  return ::syscall(SYS_recvfrom, fd, bytes, size, flags, nullptr, nullptr);
}

ssize_t plain_send(int fd, const void* bytes, std::size_t size, int flags) {
  return ::syscall(SYS_sendto, fd, bytes, size, flags, nullptr, 0);
}

}  // namespace portico::net
