// Logs: lines handed to a thread that writes them, so that a slow or full disk never stalls a loop.
//
// A LogFile is shared by all threads. Its queue is bounded: what does not fit is counted and
// dropped, and the count is written as a line of its own when there is room again.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "proxy/core/fd.h"
#include "proxy/core/result.h"

namespace portico::core {

class LogFile {
 public:
  /// path  a file (appended to, created with mode 0640), or "-" for standard output
  explicit LogFile(std::string path);
  /// Writes to a descriptor that somebody else opened (the front may not open files itself).
  LogFile(std::string path, Fd fd);
  LogFile(const LogFile&) = delete;
  LogFile& operator=(const LogFile&) = delete;
  ~LogFile();  ///< writes what is queued

  void write(std::string_view line);  ///< a line without its end
  void reopen();        ///< opens the path anew (after logrotate); keeps the old on failure
  void replace(Fd fd);  ///< the same with a descriptor from outside
  std::uint64_t dropped() const { return dropped_; }
  const std::string& path() const { return path_; }

 private:
  void work();
  void write_out(std::string& text);
  Fd open_path() const;

  static constexpr std::size_t queue_bytes = 1 << 20;  // some 5,000 lines

  std::string path_;
  std::mutex mutex_;
  std::condition_variable filled_;
  std::string queue_;
  bool stop_ = false;
  Fd next_fd_;  // takes the place of fd_ before the next write
  Fd fd_;       // the writer thread's
  std::atomic<std::uint64_t> dropped_ = 0;
  std::uint64_t dropped_told_ = 0;
  std::thread thread_;
};

/// The process's own log: lines "2026-01-31T12:00:00.123Z level text" to standard error, from any
/// thread. Control characters in `text` are escaped.
void log(Level level, std::string_view text);
enum class LogStyle : bool {
  full,
  brief,  ///< for somebody who watches: "12:00:00 text", local time; the level of what is amiss
          ///< only
};
void log_style(LogStyle style);  ///< full by default
void log_level(Level least);     ///< what is below is not written; info by default

/// Escapes what must not stand raw in a log: controls (C1 too), quotes, backslashes, marks that
/// turn the text's direction, and bytes that are not UTF-8.
void append_escaped(std::string& out, std::string_view text);

}  // namespace portico::core
