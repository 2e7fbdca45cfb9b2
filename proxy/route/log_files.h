// LogFiles: the access-log files of the front by path, kept from one snapshot to the next.
//
// Owned by the front, shared by its snapshots. Any thread. A front without privileges cannot open
// the files itself: the supervisor opens them and hands the descriptors in, before the snapshot
// that uses them is compiled, and again when logs are to be reopened.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "proxy/core/fd.h"
#include "proxy/core/log_file.h"

namespace portico::route {

class LogFiles {
 public:
  /// The file of that path ("-" is standard output); the same object for the same path as long as
  /// anybody holds it. Null for "off".
  std::shared_ptr<core::LogFile> file(const std::string& path);

  /// A descriptor for `path` that somebody else opened: used instead of opening the path, at once
  /// where the file is in use.
  void adopt(const std::string& path, core::Fd fd);

  /// After a rotation: opens every path anew, for a front that may. Where opening fails, the old
  /// file stays in use until adopt() brings another.
  void reopen();

 private:
  std::mutex mutex_;
  std::map<std::string, std::weak_ptr<core::LogFile>> files_;
  std::map<std::string, core::Fd> adopted_;  // not yet asked for
};

}  // namespace portico::route
