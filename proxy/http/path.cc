#include "proxy/http/path.h"

#include <cstdint>

#include "proxy/core/text.h"
#include "proxy/http/chars.h"

namespace portico::http {
namespace {

core::Error bad_target() { return {core::Fault::bad_target, 0, "reading the path"}; }

constexpr unsigned digit_value(char c) {
  return static_cast<unsigned>(c <= '9' ? c - '0' : core::lower(c) - 'a' + 10);
}

// The byte that an escape at `at` stands for; nothing where it is none.
std::optional<unsigned char> escape(std::string_view text, std::size_t at) {
  if (text.size() - at < 3 || !chars::is(text[at + 1], chars::hex) ||
      !chars::is(text[at + 2], chars::hex)) {
    return std::nullopt;
  }
  return static_cast<unsigned char>(digit_value(text[at + 1]) << 4 | digit_value(text[at + 2]));
}

// Whether a path is canonical as it stands: nearly all are.
bool plain(std::string_view path, const PathRules& rules) {
  char before = 0;
  for (char c : path) {
    if (!chars::is(c, chars::path)) return false;
    if (before == '/' && (c == '.' || (c == '/' && rules.merge_slashes))) return false;
    before = c;
  }
  return true;
}

bool allowed_escape(unsigned char byte, const PathRules& rules) {
  if (byte == '/' || byte == '\\') return rules.allow_encoded_slashes;
  return byte != 0;
}

void append_escape(std::string& out, unsigned char byte) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  out += '%';
  out += digits[byte >> 4];
  out += digits[byte & 15];
}

// Escapes of unreserved characters decoded, the others with upper-case digits.
std::optional<std::string> normal_escapes(std::string_view raw, const PathRules& rules) {
  std::string out;
  out.reserve(raw.size());
  for (std::size_t at = 0; at < raw.size(); ++at) {
    if (raw[at] != '%') {
      if (!chars::is(raw[at], chars::path)) return std::nullopt;
      out += raw[at];
      continue;
    }
    const auto byte = escape(raw, at);
    if (!byte || !allowed_escape(*byte, rules)) return std::nullopt;
    const char c = static_cast<char>(*byte);
    if (chars::is(c, chars::unreserved)) {
      out += c;
    } else {
      append_escape(out, *byte);
    }
    at += 2;
  }
  return out;
}

// "..;a=b": a dot segment to servers that know path parameters, a name to all others.
bool ambiguous(std::string_view segment) {
  if (segment.empty() || segment.front() != '.') return false;
  segment.remove_prefix(segment.substr(0, 2) == ".." ? 2 : 1);
  return segment.substr(0, 1) == ";" || segment.substr(0, 3) == "%3B";
}

enum class Place : bool { inner, last };

// Adds one segment to a path of "/segment"s; a path that ends with a dot segment ends with "/".
void add_segment(std::string& path, std::string_view segment, Place place, const PathRules& rules) {
  const bool dots = segment == "." || segment == "..";
  if (segment == ".." && !path.empty()) path.erase(path.rfind('/'));
  if (dots || (segment.empty() && rules.merge_slashes)) {
    if (place == Place::last) path += '/';
    return;
  }
  path += '/';
  path += segment;
}

// RFC 3986 §5.2.4, and doubled slashes. `path` begins with "/".
std::optional<std::string> resolve_dots(std::string_view path, const PathRules& rules) {
  std::string out;
  out.reserve(path.size());
  while (!path.empty()) {
    path.remove_prefix(1);
    const auto slash = path.find('/');
    const std::string_view segment = path.substr(0, slash);
    if (ambiguous(segment)) return std::nullopt;
    add_segment(out, segment, slash == std::string_view::npos ? Place::last : Place::inner, rules);
    path = slash == std::string_view::npos ? std::string_view() : path.substr(slash);
  }
  return out;
}

}  // namespace

core::Result<std::string> canonical_path(std::string_view raw, const PathRules& rules) {
  if (raw.empty() || raw.front() != '/') return bad_target();
  if (plain(raw, rules)) return std::string(raw);
  const auto escaped = normal_escapes(raw, rules);
  if (!escaped) return bad_target();
  auto path = resolve_dots(*escaped, rules);
  if (!path) return bad_target();
  return std::move(*path);
}

std::optional<std::string> percent_decode(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '%') {
      out += text[at];
      continue;
    }
    const auto byte = escape(text, at);
    if (!byte) return std::nullopt;
    out += static_cast<char>(*byte);
    at += 2;
  }
  return out;
}

}  // namespace portico::http
