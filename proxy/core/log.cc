#include "proxy/core/log.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <ctime>

#include "proxy/core/text.h"

namespace portico::core {
namespace {

std::atomic<Level> least_level = Level::info;
constexpr std::array<std::string_view, 4> level_names = {"debug", "info", "warning", "error"};

void write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;  // a full disk: the lines are lost, nothing else is
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

// U+202A..U+202E and U+2066..U+2069 turn a line around on a terminal; U+0080..U+009F are controls.
bool hides_text(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) {
    return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0u;
  };
  if (byte(0) == 0xc2) return byte(1) >= 0x80 && byte(1) <= 0x9f;
  if (byte(0) != 0xe2) return false;
  if (byte(1) == 0x80) return byte(2) >= 0xaa && byte(2) <= 0xae;
  return byte(1) == 0x81 && byte(2) >= 0xa6 && byte(2) <= 0xa9;
}

}  // namespace

void append_escaped(std::string& out, std::string_view text) {
  static constexpr char hex[] = "0123456789abcdef";
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c == '"' || c == '\\') {
      out.push_back('\\');
      out.push_back(text[i]);
    } else if (c < 0x20 || c == 0x7f || hides_text(text, i)) {
      out.append("\\x");
      out.push_back(hex[c >> 4]);
      out.push_back(hex[c & 15]);
    } else {
      out.push_back(text[i]);
    }
  }
}

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

void LogFile::write_out(std::string& text) {
  const std::uint64_t dropped = dropped_;
  if (dropped != dropped_told_) {
    text.append("# ").append(std::to_string(dropped - dropped_told_)).append(" lines lost\n");
    dropped_told_ = dropped;
  }
  write_all(fd_.get(), text);
  text.clear();
}

void log_level(Level least) { least_level = least; }

void log(Level level, std::string_view text) {
  if (level < least_level) return;
  std::string line = utc_stamp(std::chrono::system_clock::now());
  line.append(" ").append(level_names[static_cast<std::size_t>(level)]).append(" ");
  append_escaped(line, text);
  line.push_back('\n');
  write_all(STDERR_FILENO, line);
}

}  // namespace portico::core
