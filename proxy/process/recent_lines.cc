#include "proxy/process/recent_lines.h"

#include <algorithm>
#include <chrono>

#include "proxy/core/log.h"
#include "proxy/core/text.h"

namespace portico::process {
namespace {

// Room is made in steps, so that not every line moves all the others.
constexpr std::size_t step = RecentLines::capacity / 8;

}  // namespace

void RecentLines::append(std::string_view line) {
  text_.append(line.substr(0, step)).push_back('\n');
  end_ += std::min(line.size(), step) + 1;
  if (text_.size() > capacity) make_room();
  next_line_.ring();
}

void RecentLines::append_with_time(std::string_view line) {
  std::string text = core::utc_stamp(std::chrono::system_clock::now()) + " ";
  core::append_escaped(text, line);
  append(text);
}

void RecentLines::make_room() {
  const std::size_t surplus = std::max(text_.size() - capacity, step);
  text_.erase(0, text_.find('\n', surplus - 1) + 1);
}

std::uint64_t RecentLines::tail(std::size_t lines) const {
  std::size_t at = text_.size();
  while (lines-- > 0 && at > 0) {
    const std::size_t before = at >= 2 ? text_.rfind('\n', at - 2) : std::string::npos;
    at = before == std::string::npos ? 0 : before + 1;
  }
  return begin() + at;
}

std::string_view RecentLines::from(std::uint64_t position, std::size_t room) const {
  return std::string_view(text_).substr(static_cast<std::size_t>(position - begin()), room);
}

}  // namespace portico::process
