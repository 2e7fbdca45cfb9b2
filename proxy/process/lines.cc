#include "proxy/process/lines.h"

namespace portico::process {

void Lines::feed(std::string_view bytes, core::Time now) {
  enter_second(now);
  while (!bytes.empty()) {
    const auto at = bytes.find('\n');
    append(bytes.substr(0, at));
    if (at == std::string_view::npos) return;
    finish_line();
    bytes.remove_prefix(at + 1);
  }
}

void Lines::end() {
  if (!line_.empty()) finish_line();
  tell_dropped();
}

void Lines::append(std::string_view part) {
  const std::size_t room = rules_.line_bytes - line_.size();
  if (part.size() > room) cut_ = true;
  line_.append(part.substr(0, room));
}

void Lines::finish_line() {
  if (!line_.empty() && line_.back() == '\r') line_.pop_back();
  if (cut_) line_.append(" [line cut]");
  emit(line_);
  line_.clear();
  cut_ = false;
}

void Lines::emit(std::string_view line) {
  second_bytes_ += line.size() + 1;
  if (second_bytes_ > rules_.bytes_a_second) {
    ++dropped_lines_;
    return;
  }
  sink_(line);
}

void Lines::enter_second(core::Time now) {
  if (now - second_began_ < std::chrono::seconds(1)) return;
  second_began_ = now;
  second_bytes_ = 0;
  tell_dropped();
}

void Lines::tell_dropped() {
  if (dropped_lines_ == 0) return;
  sink_("[" + std::to_string(dropped_lines_) + " lines dropped: too many in a second]");
  dropped_lines_ = 0;
}

}  // namespace portico::process
