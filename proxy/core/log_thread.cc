#include "proxy/core/log_thread.h"

#include <fcntl.h>
#include <unistd.h>

#include <string>

#include "proxy/core/log.h"

namespace portico::core {

LogThread::LogThread()
    : file_(std::make_unique<LogFile>(std::string(own_log),
                                      Fd(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3)))) {
  log_into(file_.get());
}

// What the thread itself has to say at its end is for its own file.
LogThread::~LogThread() {
  file_.reset();
  log_into(nullptr);
}

}  // namespace portico::core
