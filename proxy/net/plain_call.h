// recv(2) and send(2) as plain system calls, for the hot path.
//
// In a process with threads the C library makes each of them a point of cancellation, with two
// atomic operations; no thread of ours is ever cancelled. Errors in errno, as usual; any thread.
#pragma once

#include <sys/types.h>

#include <cstddef>

namespace portico::net {

ssize_t plain_recv(int fd, void* bytes, std::size_t size, int flags);
ssize_t plain_send(int fd, const void* bytes, std::size_t size, int flags);

}  // namespace portico::net
