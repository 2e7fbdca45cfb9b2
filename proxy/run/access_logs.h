// AccessLogs: the access-log files of a configuration, opened for a front that may not open them.
//
// Owned by the supervisor; its thread. Standard output and "off" are not among them.
#pragma once

#include <string>
#include <vector>

#include "conf/config.h"
#include "proxy/core/fd.h"

namespace portico::run {

class AccessLogs {
 public:
  struct File {
    std::string path;
    core::Fd fd;  ///< none when it could not be opened, which is told in the log
  };

  explicit AccessLogs(const conf::Config& config);

  /// Opens every path anew, created with mode 0640 where it is missing. A file that cannot be
  /// opened keeps its old descriptor.
  void open();
  const std::vector<File>& files() const { return files_; }

 private:
  void add(const std::string& path);

  std::vector<File> files_;
};

}  // namespace portico::run
