// The status for people: aligned, and in colours where that is wanted. Pure.
#pragma once

#include <cstdint>
#include <string>

#include "proxy/core/loop.h"
#include "proxy/run/status.h"

namespace portico::run {

enum class Colours : bool { no, yes };

std::string status_text(const Status& status, Colours colours);

/// "45s", "3m 12s", "2h 5m", "12d 3h"
std::string age_text(core::Duration age);
/// "512 B", "12.3 MiB"
std::string size_text(std::uint64_t bytes);

}  // namespace portico::run
