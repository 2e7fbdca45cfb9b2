// Json: writes one JSON value (RFC 8259), member by member, into a text of the caller's.
//
// Pure; any thread. Used by the access log and by the control socket. Whatever text comes in, what
// goes out is valid, and safe to show on a terminal.
#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace portico::core {

/// A JSON string with its quotation marks (RFC 8259 §7), valid UTF-8 whatever comes in: an invalid
/// byte becomes U+FFFD; controls, DEL, C1, line separators and bidi controls stand as \uhhhh.
void append_json(std::string& out, std::string_view text);

/// Commas are its affair; that each opening has its closing is the caller's.
///
///     json.open('{').key("name").text("a").key("pids").open('[').number(1).close(']').close('}');
class Json {
 public:
  explicit Json(std::string& out) : out_(out) {}

  Json& open(char bracket);          ///< '{' or '['
  Json& close(char bracket);         ///< '}' or ']'
  Json& key(std::string_view name);  ///< of a member; a literal that needs no escapes
  Json& text(std::string_view value);
  Json& text_or_null(std::string_view value);  ///< null in place of an empty text
  Json& boolean(bool value);
  Json& null();
  /// Seconds with six decimals.
  Json& seconds(std::chrono::microseconds value);
  template <std::integral Number>
  Json& number(Number value) {
    begin().append(std::to_string(value));
    return *this;
  }

 private:
  std::string& begin();

  std::string& out_;
  bool comma_ = false;  // stands before the next value
};

}  // namespace portico::core
