#include "backend/record/control.h"

#include <algorithm>

namespace portico::record {
namespace {

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool is_key_char(char c) { return is_plain(c) || c == '_' || c == '.' || c == '-'; }

bool is_value_char(char c) {
  return is_plain(c) || std::string_view("-._~/:@,+").find(c) != std::string_view::npos;
}

bool is_key(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_key_char);
}

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

void append_encoded(std::string& out, std::string_view value) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  for (char c : value) {
    if (is_value_char(c)) {
      out += c;
      continue;
    }
    auto byte = static_cast<unsigned char>(c);
    out += '%';
    out += digits[byte >> 4];
    out += digits[byte & 15];
  }
}

/// The byte behind a '%' at `at`, or -1.
int escaped_byte(std::string_view text, std::size_t at) {
  if (at + 2 >= text.size()) return -1;
  int high = hex_value(text[at + 1]);
  int low = hex_value(text[at + 2]);
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

bool decode_value(std::string_view text, std::string& value) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      value += text[i];
      continue;
    }
    int byte = escaped_byte(text, i);
    if (byte < 0) return false;
    value += static_cast<char>(byte);
    i += 2;
  }
  return true;
}

bool parse_pair(std::string_view word, ControlMessage& message) {
  std::size_t equals = word.find('=');
  if (equals == std::string_view::npos || !is_key(word.substr(0, equals))) return false;
  std::string value;
  if (!decode_value(word.substr(equals + 1), value)) return false;
  message.set(std::string(word.substr(0, equals)), std::move(value));
  return message.values.size() <= max_control_values;
}

/// Takes the next word, up to a single space, off `rest`.
std::string_view take_word(std::string_view& rest) {
  std::size_t space = std::min(rest.find(' '), rest.size());
  std::string_view word = rest.substr(0, space);
  rest.remove_prefix(std::min(space + 1, rest.size()));
  return word;
}

}  // namespace

ControlMessage& ControlMessage::set(std::string key, std::string value) {
  values.emplace_back(std::move(key), std::move(value));
  return *this;
}

ControlMessage& ControlMessage::set(std::string key, std::uint64_t value) {
  return set(std::move(key), std::to_string(value));
}

std::optional<std::string_view> ControlMessage::text(std::string_view key) const {
  for (const auto& [name, value] : values) {
    if (name == key) return value;
  }
  return std::nullopt;
}

std::optional<std::uint64_t> ControlMessage::number(std::string_view key) const {
  std::optional<std::string_view> digits = text(key);
  if (!digits || digits->empty() || digits->size() > 19) return std::nullopt;
  std::uint64_t value = 0;
  for (char c : *digits) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + static_cast<std::uint64_t>(c - '0');
  }
  return value;
}

std::string format_control(const ControlMessage& message) {
  std::string out = message.verb;
  for (const auto& [key, value] : message.values) {
    out += ' ';
    out += key;
    out += '=';
    append_encoded(out, value);
  }
  return out.size() <= max_control_bytes ? out : std::string();
}

std::optional<ControlMessage> parse_control(std::string_view datagram) {
  if (datagram.size() > max_control_bytes) return std::nullopt;
  ControlMessage message;
  message.verb = take_word(datagram);
  if (!is_key(message.verb)) return std::nullopt;
  while (!datagram.empty()) {
    std::string_view word = take_word(datagram);
    if (!word.empty() && !parse_pair(word, message)) return std::nullopt;
  }
  return message;
}

}  // namespace portico::record
