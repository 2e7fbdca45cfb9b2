#include "proxy/core/log_file.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <utility>

#include "proxy/core/log.h"

namespace portico::core {
namespace {

std::string log_name(const std::string& path) {
  if (path == own_log) return path;
  return "access log " + (path == "-" ? "on standard output" : path);
}

std::string reason(int os) {
  const char* text = strerrordesc_np(os);
  return text != nullptr ? text : "system error " + std::to_string(os);
}

}  // namespace

LogFile::LogFile(std::string path) : path_(std::move(path)), fd_(open_path()) {
  thread_ = std::thread([this] { work(); });
}

LogFile::LogFile(std::string path, Fd fd) : path_(std::move(path)), fd_(std::move(fd)) {
  thread_ = std::thread([this] { work(); });
}

LogFile::~LogFile() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  filled_.notify_one();
  thread_.join();
}

Fd LogFile::open_path() const {
  if (path_ == "-") return Fd(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3));
  return Fd(::open(path_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0640));
}

void LogFile::write(std::string_view line) {
  bool was_empty = false;
  {
    const std::lock_guard lock(mutex_);
    if (queue_.size() + line.size() >= queue_bytes) {
      ++dropped_;
      return;
    }
    was_empty = queue_.empty();
    queue_.append(line).push_back('\n');
  }
  if (was_empty) filled_.notify_one();
}

void LogFile::reopen() { replace(open_path()); }

void LogFile::replace(Fd fd) {
  if (!fd) return;
  const std::lock_guard lock(mutex_);
  next_fd_ = std::move(fd);
  filled_.notify_one();
}

// At the end a reader has a second; somebody waits for us.
bool LogFile::wait_writable() {
  pollfd one{fd_.get(), POLLOUT, 0};
  while (::poll(&one, 1, 100) == 0) {
    if (!stop_ || --patience_ > 0) continue;
    errno = EAGAIN;
    return false;
  }
  return true;
}

/// Returns what could not be written: a full disk loses lines, and nothing else. A pipe that has
/// room takes PIPE_BUF bytes without making us wait, so that the end can be waited for in
/// wait_writable().
std::string_view LogFile::put(std::string_view text) {
  struct stat facts {};
  const bool is_file = ::fstat(fd_.get(), &facts) == 0 && S_ISREG(facts.st_mode);
  while (!text.empty() && (is_file || wait_writable())) {
    const std::size_t most = is_file ? text.size() : std::min<std::size_t>(text.size(), PIPE_BUF);
    const ssize_t written = ::write(fd_.get(), text.data(), most);
    if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
    if (written < 0 && errno != EINTR && errno != EAGAIN) break;
  }
  return text;
}

void LogFile::work() {
  std::string text;
  std::unique_lock lock(mutex_);
  while (!stop_ || !queue_.empty()) {
    filled_.wait(lock, [this] { return stop_ || !queue_.empty() || next_fd_; });
    if (next_fd_) fd_ = std::move(next_fd_);
    text.swap(queue_);
    lock.unlock();
    write_out(text);
    lock.lock();
  }
}

// The operator hears when lines begin to be lost and how many they were, not of each: the other log
// may lie on the same disk.
void LogFile::write_out(std::string& text) {
  const std::uint64_t untold = dropped_ - dropped_told_;
  const std::string told = std::to_string(untold) + " lines lost";
  if (untold != 0) text.append("# ").append(told).append("\n");
  const std::string_view lost = put(text);
  const int os = errno;
  if (lost.empty()) {
    dropped_told_ += untold;
    if (untold != 0) log(Level::warning, log_name(path_) + " is written again, " + told);
  } else {
    const auto lines = static_cast<std::uint64_t>(std::count(lost.begin(), lost.end(), '\n'));
    dropped_ += lines - (untold != 0 ? 1 : 0);  // without our own
    if (untold == 0) log(Level::error, log_name(path_) + " loses lines: " + reason(os));
  }
  text.clear();
}

}  // namespace portico::core
