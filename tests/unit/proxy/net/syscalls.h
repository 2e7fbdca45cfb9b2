// Counts the system calls that this test executable makes through libc: a fast proxy saves calls,
// so their number is part of what is promised.
#pragma once

namespace portico::tests {

struct Syscalls {
  int recv = 0;
  int send = 0;
  int sendmsg = 0;
  int sendfile = 0;
  int splice = 0;
  int epoll_ctl = 0;
};

extern thread_local Syscalls syscalls;

}  // namespace portico::tests
