#include "proxy/core/json.h"

namespace portico::core {
namespace {

constexpr char hex_digits[] = "0123456789abcdef";
constexpr char32_t replacement = 0xfffd;

bool printable(char c) { return c >= 0x20 && c < 0x7f; }

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

std::string& Json::begin() {
  if (comma_) out_.push_back(',');
  comma_ = true;
  return out_;
}

Json& Json::open(char bracket) {
  begin().push_back(bracket);
  comma_ = false;
  return *this;
}

Json& Json::close(char bracket) {
  out_.push_back(bracket);
  comma_ = true;
  return *this;
}

Json& Json::key(std::string_view name) {
  begin().append("\"").append(name).append("\":");
  comma_ = false;
  return *this;
}

Json& Json::text(std::string_view value) {
  append_json(begin(), value);
  return *this;
}

Json& Json::text_or_null(std::string_view value) { return value.empty() ? null() : text(value); }

Json& Json::boolean(bool value) {
  begin().append(value ? "true" : "false");
  return *this;
}

Json& Json::null() {
  begin().append("null");
  return *this;
}

Json& Json::seconds(std::chrono::microseconds value) {
  constexpr std::int64_t million = 1'000'000;
  const std::string fraction = std::to_string(value.count() % million);
  begin().append(std::to_string(value.count() / million)).append(".");
  out_.append(6 - fraction.size(), '0').append(fraction);
  return *this;
}

}  // namespace portico::core
