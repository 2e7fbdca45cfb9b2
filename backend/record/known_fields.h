// Request field names that everybody sends, as small integers: the front looks a name up once, the
// engine finds the ready-made environ key by the number. Both sides come from one build, so the
// numbers may change freely.
//
// Immutable tables; any thread. 0 means "not known": the name then travels in the record.
#pragma once

#include <cstdint>
#include <string_view>

namespace portico::record {

/// The largest number in use; numbers run from 1.
inline constexpr std::uint16_t known_field_count = 84;

/// The number of a lower-case field name, or 0.
std::uint16_t known_field_id(std::string_view lower_case_name);

/// The lower-case name of a number from 1 to known_field_count; empty for any other.
std::string_view known_field_name(std::uint16_t id);

/// Numbers that the engine treats by a rule of its own.
inline constexpr std::uint16_t field_content_type = 1;
inline constexpr std::uint16_t field_content_length = 2;
inline constexpr std::uint16_t field_cookie = 3;
inline constexpr std::uint16_t field_proxy = 4;

}  // namespace portico::record
