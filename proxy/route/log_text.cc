#include "proxy/route/log_text.h"

#include <algorithm>
#include <cstdint>

namespace portico::route {
namespace {

constexpr char hex_digits[] = "0123456789abcdef";

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

}  // namespace portico::route
