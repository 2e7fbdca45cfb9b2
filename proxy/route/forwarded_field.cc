#include "proxy/route/forwarded_field.h"

#include <algorithm>
#include <utility>

#include "proxy/core/text.h"
#include "proxy/http/chars.h"

namespace portico::route {
namespace {

// Reads name=value pairs from the front of a text.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : rest_(text) {}

  bool at_end() {
    skip_blanks();
    return rest_.empty();
  }
  bool take(char c) {
    skip_blanks();
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  std::string_view token() {
    skip_blanks();
    std::size_t end = 0;
    while (end < rest_.size() && http::chars::is(rest_[end], http::chars::token)) ++end;
    const std::string_view found = rest_.substr(0, end);
    rest_.remove_prefix(end);
    return found;
  }
  std::optional<std::string> value() {
    if (!rest_.empty() && rest_.front() == '"') return quoted();
    std::string plain(token());
    if (plain.empty()) return std::nullopt;
    return plain;
  }

 private:
  void skip_blanks() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t"), rest_.size()));
  }

  std::optional<std::string> quoted() {
    std::string text;
    for (std::size_t i = 1; i < rest_.size(); ++i) {
      if (rest_[i] == '"') {
        rest_.remove_prefix(i + 1);
        return text;
      }
      if (rest_[i] == '\\' && ++i == rest_.size()) break;
      text.push_back(rest_[i]);
    }
    return std::nullopt;
  }

  std::string_view rest_;
};

// A parameter that stands twice makes the element ambiguous.
bool put(std::string& slot, std::string&& value) {
  if (!slot.empty() || value.empty()) return false;
  slot = std::move(value);
  return true;
}

bool take_pair(Cursor& cursor, ForwardedElement& element) {
  const std::string_view name = cursor.token();
  if (name.empty() || !cursor.take('=')) return false;
  auto value = cursor.value();
  if (!value) return false;
  if (core::equal_ignoring_case(name, "for")) return put(element.from, std::move(*value));
  if (core::equal_ignoring_case(name, "proto")) return put(element.proto, std::move(*value));
  if (core::equal_ignoring_case(name, "host")) return put(element.host, std::move(*value));
  return true;  // by= and extensions
}

}  // namespace

std::optional<std::vector<ForwardedElement>> parse_forwarded(std::string_view value) {
  std::vector<ForwardedElement> elements;
  Cursor cursor(value);
  do {
    ForwardedElement element;
    do {
      if (!take_pair(cursor, element)) return std::nullopt;
    } while (cursor.take(';'));
    elements.push_back(std::move(element));
  } while (cursor.take(','));
  if (!cursor.at_end()) return std::nullopt;
  return elements;
}

}  // namespace portico::route
