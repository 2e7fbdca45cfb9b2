// LogFile: lines handed to a thread that writes them, so that a slow or full disk, or a pipe that
// nobody reads, never stalls a loop.
//
// Shared by all threads. Its queue is bounded: what does not fit is counted and dropped, and the
// count is written as a line of its own when there is room again.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "proxy/core/fd.h"

namespace portico::core {

/// The name of a LogFile that takes what log() says.
inline constexpr std::string_view own_log = "log on standard error";

class LogFile {
 public:
  /// path  a file (appended to, created with mode 0640), or "-" for standard output
  explicit LogFile(std::string path);
  /// Writes to a descriptor that somebody else opened (the front may not open files itself).
  LogFile(std::string path, Fd fd);
  LogFile(const LogFile&) = delete;
  LogFile& operator=(const LogFile&) = delete;
  /// Writes what is queued. What a reader does not take meanwhile is lost after a second.
  ~LogFile();

  void write(std::string_view line);  ///< a line without its end
  void reopen();        ///< opens the path anew (after logrotate); keeps the old on failure
  void replace(Fd fd);  ///< the same with a descriptor from outside
  std::uint64_t dropped() const { return dropped_; }
  const std::string& path() const { return path_; }

 private:
  void work();
  void write_out(std::string& text);
  std::string_view put(std::string_view text);
  bool wait_writable();
  Fd open_path() const;

  static constexpr std::size_t queue_bytes = 1 << 20;  // some 5,000 lines

  std::string path_;
  std::mutex mutex_;
  std::condition_variable filled_;
  std::string queue_;
  std::atomic<bool> stop_ = false;  // set under the mutex
  int patience_ = 10;               // the writer thread's; see wait_writable()
  Fd next_fd_;                      // takes the place of fd_ before the next write
  Fd fd_;                           // the writer thread's
  std::atomic<std::uint64_t> dropped_ = 0;
  std::uint64_t dropped_told_ = 0;
  std::thread thread_;
};

}  // namespace portico::core
