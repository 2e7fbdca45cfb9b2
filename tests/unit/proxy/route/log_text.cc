#include "proxy/route/log_text.h"

#include <catch2/catch.hpp>
#include <string>
#include <string_view>

namespace portico::route {
namespace {

using namespace std::string_view_literals;

std::string apache(std::string_view text) {
  std::string out;
  append_apache(out, text);
  return out;
}

std::string json(std::string_view text) {
  std::string out;
  append_json(out, text);
  return out;
}

// A strict reader of what may stand in our JSON strings: printable, valid UTF-8, known escapes.
bool valid_json_string(std::string_view text) {
  if (text.size() < 2 || text.front() != '"' || text.back() != '"') return false;
  text = text.substr(1, text.size() - 2);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c < 0x20 || c == '"' || c == 0x7f) return false;
    if (c == '\\') {
      const std::string_view rest = text.substr(i + 1);
      if (rest.starts_with('"') || rest.starts_with('\\')) {
        ++i;
      } else if (rest.starts_with('u') && rest.size() >= 5 &&
                 rest.substr(1, 4).find_first_not_of("0123456789abcdef") == rest.npos) {
        i += 5;
      } else {
        return false;
      }
    } else if (c >= 0x80) {
      const std::size_t more = c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : c >= 0xc2 ? 1 : 0;
      if (more == 0) return false;
      for (std::size_t k = 1; k <= more; ++k) {
        if (i + k >= text.size() || (static_cast<unsigned char>(text[i + k]) & 0xc0) != 0x80)
          return false;
      }
      i += more;
    }
  }
  return true;
}

}  // namespace

TEST_CASE("log text, apache: printable ASCII stands as it is") {
  CHECK(apache("GET /a?b=c%20d~") == "GET /a?b=c%20d~");
}

TEST_CASE("log text, apache: quotes, backslashes and controls as Apache escapes them") {
  CHECK(apache("a\"b\\c") == R"(a\"b\\c)");
  CHECK(apache("\b\n\r\t\v") == R"(\b\n\r\t\v)");
  CHECK(apache("\0\a\f\x1b\x7f"sv) == R"(\x00\x07\x0c\x1b\x7f)");
  CHECK(apache("\xc3\xa9\xff") == R"(\xc3\xa9\xff)");
}

TEST_CASE("log text, json: plain text and valid UTF-8 stand as they are") {
  CHECK(json("") == R"("")");
  CHECK(json("a/b") == R"("a/b")");
  CHECK(json("gr\xc3\xbc\xc3\x9f \xf0\x9f\x9a\xaa") == "\"gr\xc3\xbc\xc3\x9f \xf0\x9f\x9a\xaa\"");
}

TEST_CASE("log text, json: quotes, backslashes and controls are escaped") {
  CHECK(json("a\"b\\c") == R"("a\"b\\c")");
  CHECK(json("\0\n\x1f\x7f"sv) == R"("\u0000\u000a\u001f\u007f")");
}

TEST_CASE("log text, json: what turns or hides text is escaped (log injection)") {
  CHECK(json("a\xe2\x80\xae"
             "b") == R"("a\u202eb")");                             // right-to-left override
  CHECK(json("\xe2\x81\xa6\xe2\x81\xa9") == R"("\u2066\u2069")");  // isolates
  CHECK(json("\xc2\x9b") == R"("\u009b")");                        // C1 CSI
  CHECK(json("\xe2\x80\xa8\xe2\x80\xa9") == R"("\u2028\u2029")");  // separators
  CHECK(json("\xef\xbb\xbf\xe2\x80\x8b\xd8\x9c") == R"("\ufeff\u200b\u061c")");
}

TEST_CASE("log text, json: bytes that are no UTF-8 become U+FFFD, one each") {
  CHECK(json("\xff") == R"("\ufffd")");
  CHECK(json("\xc3") == R"("\ufffd")");                                // cut off
  CHECK(json("\xc0\xaf") == R"("\ufffd\ufffd")");                      // overlong
  CHECK(json("\xed\xa0\x80") == R"("\ufffd\ufffd\ufffd")");            // a surrogate
  CHECK(json("\xf4\x90\x80\x80") == R"("\ufffd\ufffd\ufffd\ufffd")");  // beyond Unicode
  CHECK(json("\xe2\x82\"") == R"("\ufffd\ufffd\"")");                  // the quote is not swallowed
}

TEST_CASE("log text: no sequence of three bytes breaks a line or its quoting") {
  static constexpr std::string_view alphabet = "a\"\\\n\x00\x7f\x80\xbf\xc2\xe2\xed\xf0\xff"sv;
  for (const char a : alphabet) {
    for (const char b : alphabet) {
      for (const char c : alphabet) {
        const std::string text = {a, b, c};
        REQUIRE(valid_json_string(json(text)));
        const std::string line = apache(text);
        REQUIRE(line.find_first_of("\n\r\0\x7f"sv) == std::string::npos);
        REQUIRE(line.find_first_not_of("a\"\\nx0123456789bcdef") == std::string::npos);
      }
    }
  }
}

}  // namespace portico::route
