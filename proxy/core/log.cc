#include "proxy/core/log.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <ctime>

#include "proxy/core/log_file.h"
#include "proxy/core/text.h"

namespace portico::core {
namespace {

std::atomic<Level> least_level = Level::info;
std::atomic<LogStyle> style = LogStyle::full;
std::atomic<LogFile*> into = nullptr;
constexpr std::array<std::string_view, 4> level_names = {"debug", "info", "warning", "error"};

// A descriptor that somebody else made non-blocking, such as a shared terminal.
bool wait_writable(int fd) {
  pollfd one{fd, POLLOUT, 0};
  return ::poll(&one, 1, -1) == 1;
}

/// A full disk loses lines, and nothing else.
void write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
    if (written >= 0 || errno == EINTR) continue;
    if (errno != EAGAIN || !wait_writable(fd)) return;
  }
}

std::string local_clock(std::time_t time) {
  std::tm parts{};
  ::localtime_r(&time, &parts);
  std::array<char, 16> text;
  return {text.data(), std::strftime(text.data(), text.size(), "%H:%M:%S", &parts)};
}

unsigned byte_at(std::string_view text, std::size_t at) {
  return at < text.size() ? static_cast<unsigned char>(text[at]) : 0u;
}

// One character of UTF-8: its number and its length; a length of zero when the bytes are no UTF-8.
struct Character {
  unsigned code;
  std::size_t length;
};

Character character_at(std::string_view text, std::size_t at) {
  const unsigned first = byte_at(text, at);
  if (first < 0x80) return {first, 1};
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4) return {0, 0};
  unsigned code = first & (0x7fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    const unsigned next = byte_at(text, at + i);
    if ((next & 0xc0) != 0x80) return {0, 0};
    code = code << 6 | (next & 0x3f);
  }
  const bool overlong = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
  const bool surrogate = code >= 0xd800 && code <= 0xdfff;
  return overlong || surrogate || code > 0x10ffff ? Character{0, 0} : Character{code, length};
}

// What a terminal or a reader's eye would be led astray by: controls, line separators, marks that
// turn the direction of the text (U+061C, U+200E-F, U+202A-E, U+2066-9).
bool misleads(unsigned code) {
  if (code < 0x20 || (code >= 0x7f && code <= 0x9f)) return true;
  return code == 0x61c || code == 0x200e || code == 0x200f || (code >= 0x2028 && code <= 0x202e) ||
         (code >= 0x2066 && code <= 0x2069);
}

void append_hex(std::string& out, std::string_view bytes) {
  static constexpr char hex[] = "0123456789abcdef";
  for (const char c : bytes) {
    out.append("\\x");
    out.push_back(hex[static_cast<unsigned char>(c) >> 4]);
    out.push_back(hex[static_cast<unsigned char>(c) & 15]);
  }
}

// The first character of `text`, escaped if need be; it is cut off.
void append_special(std::string& out, std::string_view& text) {
  const Character character = character_at(text, 0);
  const std::string_view bytes = text.substr(0, character.length == 0 ? 1 : character.length);
  if (character.length == 0 || misleads(character.code)) {
    append_hex(out, bytes);
  } else {
    out.append(bytes);
  }
  text.remove_prefix(bytes.size());
}

}  // namespace

void append_escaped(std::string& out, std::string_view text) {
  const auto plain = [](char c) { return c >= 0x20 && c != 0x7f; };
  while (!text.empty()) {
    const auto special = std::find_if_not(text.begin(), text.end(), plain);
    out.append(text.begin(), special);
    text.remove_prefix(static_cast<std::size_t>(special - text.begin()));
    if (!text.empty()) append_special(out, text);
  }
}

void log_level(Level least) { least_level = least; }

void log_into(LogFile* file) { into = file; }

void log_style(LogStyle wanted) { style = wanted; }

void log(Level level, std::string_view text) {
  if (level < least_level) return;
  std::string line = style == LogStyle::full ? utc_stamp(std::chrono::system_clock::now())
                                             : local_clock(std::time(nullptr));
  line.push_back(' ');
  if (style == LogStyle::full || level >= Level::warning)
    line.append(level_names[static_cast<std::size_t>(level)]).push_back(' ');
  append_escaped(line, text);
  if (LogFile* file = into) return file->write(line);
  line.push_back('\n');
  write_all(STDERR_FILENO, line);
}

}  // namespace portico::core
