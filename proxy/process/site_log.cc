#include "proxy/process/site_log.h"

#include "proxy/core/log.h"

namespace portico::process {

void SiteLog::say(core::Level level, const std::string& text) {
  core::log(level, "[" + tag_ + "] " + text);
  recent_->append_with_time("portico: " + text);
  if (level >= core::Level::warning) troubles_.note(text);
}

Lines::Sink SiteLog::sink(const std::string& process) {
  const std::string tag = process.empty() ? "[" + tag_ + "] " : "[" + tag_ + " " + process + "] ";
  const std::string name = process.empty() ? "" : process + ": ";
  return [this, tag, name](std::string_view line) {
    core::log(core::Level::info, tag + std::string(line));
    recent_->append_with_time(name + std::string(line));
  };
}

}  // namespace portico::process
