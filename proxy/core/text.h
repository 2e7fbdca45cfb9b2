// Small helpers for text: numbers, case, blanks, times. Pure; any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace portico::core {

constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; }
bool same_letters(const char* a, const char* b, std::size_t size);  ///< see below
/// ASCII only. Lengths are compared first, without a call: it is asked of every field.
inline bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return a.size() == b.size() && same_letters(a.data(), b.data(), a.size());
}
std::string lower_copy(std::string_view text);
std::string_view trim(std::string_view text);  ///< spaces and tabs, both sides

/// 1*DIGIT without sign or blanks that fits into 64 bits, else nothing.
std::optional<std::uint64_t> decimal(std::string_view text);

/// "2026-01-31T12:00:00.123Z"
std::string utc_stamp(std::chrono::system_clock::time_point time);
/// IMF-fixdate of RFC 9110 §5.6.7: "Sun, 06 Nov 1994 08:49:37 GMT"
std::string http_date(std::chrono::system_clock::time_point time);

}  // namespace portico::core
