// The level of messages that a configuration asks for, as core's log knows it. Pure.
#pragma once

#include "conf/config.h"
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

}  // namespace portico::run
