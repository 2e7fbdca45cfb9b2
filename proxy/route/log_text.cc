#include "proxy/route/log_text.h"

#include <algorithm>
#include <cstdint>

namespace portico::route {
namespace {

constexpr char hex_digits[] = "0123456789abcdef";
constexpr char32_t replacement = 0xfffd;

char apache_letter(char c) {
  switch (c) {
    case '\b':
      return 'b';
    case '\n':
      return 'n';
    case '\r':
      return 'r';
    case '\t':
      return 't';
    case '\v':
      return 'v';
    case '"':
    case '\\':
      return c;
    default:
      return 0;
  }
}

bool printable(char c) { return c >= 0x20 && c < 0x7f; }

bool stands_in_apache(char c) { return printable(c) && c != '"' && c != '\\'; }

void append_apache_escape(std::string& out, char c) {
  out.push_back('\\');
  if (const char letter = apache_letter(c); letter != 0) {
    out.push_back(letter);
    return;
  }
  const auto byte = static_cast<unsigned char>(c);
  out.push_back('x');
  out.push_back(hex_digits[byte >> 4]);
  out.push_back(hex_digits[byte & 15]);
}

struct Decoded {
  char32_t point = replacement;
  std::size_t bytes = 1;
};

unsigned byte_at(std::string_view text, std::size_t at) {
  return at < text.size() ? static_cast<unsigned char>(text[at]) : 0;
}

std::size_t sequence_bytes(unsigned lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead <= 0xdf) return 2;
  if (lead >= 0xe0 && lead <= 0xef) return 3;
  return lead >= 0xf0 && lead <= 0xf4 ? 4 : 0;
}

// Overlong forms, surrogates and what lies beyond Unicode are no characters (RFC 3629 §3).
bool is_character(char32_t point, std::size_t bytes) {
  static constexpr char32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  return point >= least[bytes] && point <= 0x10ffff && (point < 0xd800 || point > 0xdfff);
}

Decoded decode(std::string_view text, std::size_t at) {
  const unsigned lead = byte_at(text, at);
  const std::size_t bytes = sequence_bytes(lead);
  if (bytes == 1) return {lead, 1};
  if (bytes == 0) return {};
  char32_t point = lead & (0x7fu >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    const unsigned next = byte_at(text, at + i);
    if ((next & 0xc0) != 0x80) return {};
    point = (point << 6) | (next & 0x3f);
  }
  return is_character(point, bytes) ? Decoded{point, bytes} : Decoded{};
}

// What a terminal or an editor would not show as it stands.
bool hidden(char32_t point) {
  return point < 0x20 || (point >= 0x7f && point <= 0x9f) || point == 0x61c ||
         (point >= 0x200b && point <= 0x200f) || (point >= 0x2028 && point <= 0x202e) ||
         (point >= 0x2060 && point <= 0x2069) || point == 0xfeff;
}

void append_unicode_escape(std::string& out, char32_t point) {
  out.append("\\u");
  for (int shift = 12; shift >= 0; shift -= 4) out.push_back(hex_digits[(point >> shift) & 15]);
}

}  // namespace

void append_apache(std::string& out, std::string_view text) {
  while (!text.empty()) {
    const auto end = std::find_if_not(text.begin(), text.end(), stands_in_apache);
    const auto size = static_cast<std::size_t>(end - text.begin());
    out.append(text.substr(0, size));
    text.remove_prefix(size);
    if (text.empty()) return;
    append_apache_escape(out, text.front());
    text.remove_prefix(1);
  }
}

void append_json(std::string& out, std::string_view text) {
  out.push_back('"');
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (printable(c)) {
      if (c == '"' || c == '\\') out.push_back('\\');
      out.push_back(c);
      ++at;
      continue;
    }
    const Decoded character = decode(text, at);
    if (hidden(character.point) || character.point == replacement) {
      append_unicode_escape(out, character.point);
    } else {
      out.append(text.substr(at, character.bytes));
    }
    at += character.bytes;
  }
  out.push_back('"');
}

}  // namespace portico::route
