// How our own messages are written, as a configuration asks for it.
#pragma once

#include "conf/config.h"
#include "proxy/core/log.h"
#include "proxy/core/result.h"

namespace portico::run {

constexpr core::Level level_of(conf::LogLevel level) {
  switch (level) {
    case conf::LogLevel::error:
      return core::Level::error;
    case conf::LogLevel::warning:
      return core::Level::warning;
    case conf::LogLevel::debug:
      return core::Level::debug;
    case conf::LogLevel::info:
      break;
  }
  return core::Level::info;
}

/// Who wants access lines to look at wants messages to look at.
inline void use_log(const conf::Log& log) {
  const bool watched =
      log.format == conf::LogFormat::brief || log.format == conf::LogFormat::pretty;
  core::log_level(level_of(log.level));
  core::log_style(watched ? core::LogStyle::brief : core::LogStyle::full);
}

}  // namespace portico::run
