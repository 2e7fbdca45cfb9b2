// The character classes of HTTP and URIs, as one table of bits. Pure; any thread.
//
// Sources: RFC 9110 §5.6.2 (token), §5.5 (field values); RFC 3986 §2.3, §3.3, §3.4.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace portico::http::chars {

inline constexpr std::uint8_t token = 1;       ///< tchar
inline constexpr std::uint8_t path = 2;        ///< pchar and "/", without "%"
inline constexpr std::uint8_t query = 4;       ///< of a query, "%" and what browsers leave bare
inline constexpr std::uint8_t unreserved = 8;  ///< letters, digits, "-._~"
inline constexpr std::uint8_t hex = 16;
inline constexpr std::uint8_t value = 32;   ///< of a field value: printable, blank, 0x80-0xFF
inline constexpr std::uint8_t quoted = 64;  ///< within quotes, but for DQUOTE and backslash
inline constexpr std::uint8_t plain = 128;  ///< letters, digits, "-": of a host's labels too

namespace detail {

constexpr void mark(std::array<std::uint8_t, 256>& table, std::string_view set, std::uint8_t bit) {
  for (char c : set) table[static_cast<std::uint8_t>(c)] |= bit;
}

constexpr std::array<std::uint8_t, 256> make_table() {
  std::array<std::uint8_t, 256> table{};
  constexpr std::string_view alphanumeric =
      "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  mark(table, alphanumeric, token | path | query | unreserved);
  mark(table, alphanumeric, plain);
  mark(table, "-", plain);
  mark(table, "-._~", unreserved | path | query);
  mark(table, "!#$%&'*+-.^_`|~", token);
  mark(table, "!$&'()*+,;=:@/", path | query);
  mark(table, "?%[]|{}^`", query);
  mark(table, "0123456789ABCDEFabcdef", hex);
  for (unsigned c = 0; c < 256; ++c) {
    if ((c >= 0x20 && c != 0x7F) || c == '\t') table[c] |= value | quoted;
  }
  table['"'] &= static_cast<std::uint8_t>(~quoted);
  table['\\'] &= static_cast<std::uint8_t>(~quoted);
  return table;
}

}  // namespace detail

inline constexpr std::array<std::uint8_t, 256> table = detail::make_table();

constexpr bool is(char c, std::uint8_t set) {
  return (table[static_cast<std::uint8_t>(c)] & set) != 0;
}

/// Whether every byte is in the set (true of nothing).
constexpr bool all(std::string_view text, std::uint8_t set) {
  for (char c : text) {
    if (!is(c, set)) return false;
  }
  return true;
}

/// all(text, value), eight bytes at a time: a byte under 0x20 or 0x7F sends the word to the table.
inline bool all_value(std::string_view text) {
  constexpr std::uint64_t ones = 0x0101010101010101u;
  constexpr std::uint64_t high = 0x8080808080808080u;
  const char* at = text.data();
  std::size_t left = text.size();
  for (; left >= 8; at += 8, left -= 8) {
    std::uint64_t word;
    std::memcpy(&word, at, 8);
    const std::uint64_t below = (word - ones * 0x20) & ~word & high;
    const std::uint64_t without_del = word ^ (ones * 0x7F);
    const std::uint64_t del = (without_del - ones) & ~without_del & high;
    if ((below | del) != 0 && !all({at, 8}, value)) return false;
  }
  return all({at, left}, value);
}

}  // namespace portico::http::chars
