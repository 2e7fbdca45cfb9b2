// LogThread: while it lives, this process's own log is written by a thread of its own.
//
// Owned by who runs a loop (the supervisor, a front): a terminal that was stopped, a pipe that
// nobody reads or a slow disk must not stall it. Made after the process's last change of user,
// which is each thread's; gone after everything that logs.
#pragma once

#include <memory>

#include "proxy/core/log_file.h"

namespace portico::core {

class LogThread {
 public:
  LogThread();
  LogThread(const LogThread&) = delete;
  LogThread& operator=(const LogThread&) = delete;
  ~LogThread();  ///< as ~LogFile

 private:
  std::unique_ptr<LogFile> file_;
};

}  // namespace portico::core
