#include "proxy/process/site_log.h"

#include "proxy/core/log.h"

namespace portico::process {

void SiteLog::say(core::Level level, const std::string& text) {
  core::log(level, "[" + tag_ + "] " + text);
  recent_->append_with_time("portico: " + text);
  if (level >= core::Level::warning) troubles_.note(text);
}

Lines::Sink SiteLog::sink() {
  return [this](std::string_view line) {
    core::log(core::Level::info, "[" + tag_ + "] " + std::string(line));
    recent_->append_with_time(line);
  };
}

}  // namespace portico::process
