#include "proxy/http/field_lines.h"

#include <array>
#include <cstring>
#include <string_view>

#include "proxy/core/text.h"
#include "proxy/http/chars.h"

namespace portico::http {
namespace {

using core::Fault;

// A token's character in lower case; 0 for anything else.
constexpr std::array<char, 256> make_lowered() {
  std::array<char, 256> lowered{};
  for (unsigned c = 0; c < 256; ++c) {
    if ((chars::table[c] & chars::token) != 0) lowered[c] = core::lower(static_cast<char>(c));
  }
  return lowered;
}
constexpr std::array<char, 256> lowered = make_lowered();

// Lower-cases the token at `at` and returns its end. It ends before the line does: CR is no token.
char* lower_name(char* at) {
  while (const char c = lowered[static_cast<std::uint8_t>(*at)]) *at++ = c;
  return at;
}

std::string_view trimmed(const char* begin, const char* end) {
  while (begin != end && (*begin == ' ' || *begin == '\t')) ++begin;
  while (begin != end && (end[-1] == ' ' || end[-1] == '\t')) --end;
  return {begin, static_cast<std::size_t>(end - begin)};
}

// One line; `line_end` is where its CR stands.
Fault parse_line(char* line, const char* line_end, Headers& fields) {
  const char* name_end = lower_name(line);
  if (name_end == line || *name_end != ':') return Fault::bad_field;
  const std::string_view value = trimmed(name_end + 1, line_end);
  if (!chars::all_value(value)) return Fault::bad_field;
  fields.add_fit({line, static_cast<std::size_t>(name_end - line)}, value);
  return Fault::none;
}

}  // namespace

Fault parse_field_lines(char* section, std::size_t size, std::uint32_t most, Headers& fields) {
  char* const end = section + size;
  while (section != end && *section != '\r') {
    auto* line_feed =
        static_cast<char*>(std::memchr(section, '\n', static_cast<std::size_t>(end - section)));
    if (fields.size() == most) return Fault::head_too_large;
    if (const Fault fault = parse_line(section, line_feed - 1, fields); fault != Fault::none) {
      return fault;
    }
    section = line_feed + 1;
  }
  // A line that begins with a bare CR is not the empty one.
  return end - section == 2 ? Fault::none : Fault::bad_field;
}

}  // namespace portico::http
