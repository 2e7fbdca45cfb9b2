#include "proxy/run/text_table.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace portico::run {
namespace {

// ECMA-48 §8.3.117 (SGR): bold, green, yellow, red.
std::string_view code_of(Tint tint) {
  switch (tint) {
    case Tint::heading:
      return "\x1b[1m";
    case Tint::good:
      return "\x1b[32m";
    case Tint::fair:
      return "\x1b[33m";
    case Tint::bad:
      return "\x1b[31m";
    case Tint::plain:
      break;
  }
  return "";
}

// Bytes that continue a character of UTF-8 take no place of their own.
std::size_t width(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

}  // namespace

std::string tinted(std::string_view text, Tint tint, bool coloured) {
  const std::string_view code = coloured ? code_of(tint) : "";
  std::string out(code);
  out.append(text);
  if (!code.empty()) out.append("\x1b[0m");
  return out;
}

bool wants_colours() {
  const char* no_colour = std::getenv("NO_COLOR");
  return ::isatty(STDOUT_FILENO) == 1 && (no_colour == nullptr || *no_colour == '\0');
}

void TextTable::append_to(std::string& out, std::string_view indent, bool coloured) const {
  std::vector<std::size_t> widths;
  for (const auto& row : rows_) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], width(row[i].text));
  }
  for (const auto& row : rows_) {
    std::string line(indent);
    std::size_t owed = 0;  // blanks that stand before the next cell, if there is one
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (!row[i].text.empty()) line.append(owed, ' ');
      if (!row[i].text.empty()) owed = 0;
      line.append(row[i].text.empty() ? "" : tinted(row[i].text, row[i].tint, coloured));
      owed += widths[i] - width(row[i].text) + 2;
    }
    out.append(line).push_back('\n');
  }
}

}  // namespace portico::run
