#include "proxy/run/access_logs.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "proxy/core/log.h"

namespace portico::run {

AccessLogs::AccessLogs(const conf::Config& config) {
  add(config.log.access);
  for (const conf::Site& site : config.sites) add(site.log.access);
}

void AccessLogs::add(const std::string& path) {
  if (path == "-" || path == "off") return;
  const bool known = std::any_of(files_.begin(), files_.end(),
                                 [&](const File& file) { return file.path == path; });
  if (!known) files_.push_back({path, core::Fd()});
}

void AccessLogs::open() {
  for (File& file : files_) {
    core::Fd fd(::open(file.path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0640));
    if (fd) {
      file.fd = std::move(fd);
    } else {
      core::log(core::Level::error,
                "cannot open the access log " + file.path + ": " + std::strerror(errno) +
                    "; its lines are lost until that is mended and the log opened anew (SIGUSR1)");
    }
  }
}

}  // namespace portico::run
