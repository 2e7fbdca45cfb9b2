// Help: the texts that --help prints, and the version. Constants; any thread.
#pragma once

#include <string_view>

#include "proxy/run/options.h"

namespace portico::run {

inline constexpr std::string_view version_text = "portico " PORTICO_VERSION;

/// The whole (Verb::help) or one verb.
std::string_view help_text(Verb topic);

}  // namespace portico::run
