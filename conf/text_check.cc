#include "conf/text_check.h"

#include <algorithm>
#include <cstdint>
#include <string>

namespace portico::conf {
namespace {

bool is_control(std::uint8_t byte) {
  return (byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r') || byte == 0x7f;
}

bool in(std::uint8_t byte, std::uint8_t least, std::uint8_t most) {
  return byte >= least && byte <= most;
}

/// The bytes that may come second after `lead` (RFC 3629 §4: no overlong forms, no surrogates).
bool second_fits(std::uint8_t lead, std::uint8_t second) {
  switch (lead) {
    case 0xE0:
      return in(second, 0xA0, 0xBF);
    case 0xED:
      return in(second, 0x80, 0x9F);
    case 0xF0:
      return in(second, 0x90, 0xBF);
    case 0xF4:
      return in(second, 0x80, 0x8F);
    default:
      return in(second, 0x80, 0xBF);
  }
}

std::size_t sequence_length(std::uint8_t lead) {
  if (lead < 0x80) return 1;
  if (in(lead, 0xC2, 0xDF)) return 2;
  if (in(lead, 0xE0, 0xEF)) return 3;
  return in(lead, 0xF0, 0xF4) ? 4 : 0;
}

/// Bytes of the character at the front of `rest`; 0 when it is not UTF-8.
std::size_t character_length(std::string_view rest) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(rest[i]); };
  const std::size_t length = sequence_length(byte(0));
  if (length == 0 || length > rest.size()) return 0;
  if (length > 1 && !second_fits(byte(0), byte(1))) return 0;
  for (std::size_t i = 2; i < length; ++i) {
    if (!in(byte(i), 0x80, 0xBF)) return 0;
  }
  return length;
}

Mark mark_at(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, offset);
  const std::size_t newline = before.rfind('\n');
  const auto lines = std::count(before.begin(), before.end(), '\n');
  const std::size_t column = newline == before.npos ? offset : offset - newline - 1;
  return {static_cast<unsigned>(lines) + 1, static_cast<unsigned>(column) + 1};
}

}  // namespace

std::optional<YamlProblem> check_text(std::string_view text) {
  if (text.size() > longest_text) {
    return YamlProblem{{1, 1}, "larger than 1 MiB; spread the sites over files under \"include\""};
  }
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = character_length(text.substr(i));
    const bool control = is_control(static_cast<std::uint8_t>(text[i]));
    if (length == 0 || control) {
      return YamlProblem{mark_at(text, i), control ? "a control character; take it out"
                                                   : "not UTF-8; save the file as UTF-8"};
    }
    i += length;
  }
  return std::nullopt;
}

bool is_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = character_length(text.substr(i));
    if (length == 0) return false;
    i += length;
  }
  return true;
}

}  // namespace portico::conf
