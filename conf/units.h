// Durations, sizes, numbers and shares as operators write them: "1h30m", "32KiB", "4096", "10%".
//
// Pure functions; any thread. A unit is always asked for: a bare 10 reads as seconds to one and
// milliseconds to another. Documented in portico.yaml(5), "Values".
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "conf/outcome.h"

namespace portico::conf {

/// The longest duration that can be written: one day.
inline constexpr std::chrono::milliseconds longest_duration = std::chrono::hours(24);

/// Whole numbers with the units h, m, s and ms, largest first, each at most once: "500ms", "1h30m".
/// At least 1 ms, at most longest_duration.
Outcome<std::chrono::milliseconds> parse_duration(std::string_view text);

/// A whole number with B, KB, MB, GB (powers of 1000) or KiB, MiB, GiB (powers of 1024). In bytes.
Outcome<std::uint64_t> parse_size(std::string_view text);

/// Decimal digits, no sign, no leading zero, between least and most.
Outcome<std::uint64_t> parse_number(std::string_view text, std::uint64_t least, std::uint64_t most);

/// A whole number with a percent sign, between least and most: "10%".
Outcome<unsigned> parse_percent(std::string_view text, unsigned least = 0, unsigned most = 100);

/// What parse_duration reads back to the same value.
std::string duration_text(std::chrono::milliseconds duration);

/// What parse_size reads back to the same value, in the largest binary unit that divides it.
std::string size_text(std::uint64_t bytes);

}  // namespace portico::conf
