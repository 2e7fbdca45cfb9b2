#include "proxy/core/json.h"

#include <catch2/catch.hpp>

namespace portico::core {
namespace {

using namespace std::string_view_literals;

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

TEST_CASE("json: plain text and valid UTF-8 stand as they are") {
  CHECK(json("") == R"("")");
  CHECK(json("a/b") == R"("a/b")");
  CHECK(json("gr\xc3\xbc\xc3\x9f \xf0\x9f\x9a\xaa") == "\"gr\xc3\xbc\xc3\x9f \xf0\x9f\x9a\xaa\"");
}

TEST_CASE("json: quotes, backslashes and controls are escaped") {
  CHECK(json("a\"b\\c") == R"("a\"b\\c")");
  CHECK(json("\0\n\x1f\x7f"sv) == R"("\u0000\u000a\u001f\u007f")");
}

TEST_CASE("json: what turns or hides text is escaped (log injection)") {
  CHECK(json("a\xe2\x80\xae"
             "b") == R"("a\u202eb")");                             // right-to-left override
  CHECK(json("\xe2\x81\xa6\xe2\x81\xa9") == R"("\u2066\u2069")");  // isolates
  CHECK(json("\xc2\x9b") == R"("\u009b")");                        // C1 CSI
  CHECK(json("\xe2\x80\xa8\xe2\x80\xa9") == R"("\u2028\u2029")");  // separators
  CHECK(json("\xef\xbb\xbf\xe2\x80\x8b\xd8\x9c") == R"("\ufeff\u200b\u061c")");
}

TEST_CASE("json: bytes that are no UTF-8 become U+FFFD, one each") {
  CHECK(json("\xff") == R"("\ufffd")");
  CHECK(json("\xc3") == R"("\ufffd")");                                // cut off
  CHECK(json("\xc0\xaf") == R"("\ufffd\ufffd")");                      // overlong
  CHECK(json("\xed\xa0\x80") == R"("\ufffd\ufffd\ufffd")");            // a surrogate
  CHECK(json("\xf4\x90\x80\x80") == R"("\ufffd\ufffd\ufffd\ufffd")");  // beyond Unicode
  CHECK(json("\xe2\x82\"") == R"("\ufffd\ufffd\"")");                  // the quote is not swallowed
}

TEST_CASE("json: no sequence of three bytes breaks a string") {
  static constexpr std::string_view alphabet = "a\"\\\n\x00\x7f\x80\xbf\xc2\xe2\xed\xf0\xff"sv;
  for (const char a : alphabet) {
    for (const char b : alphabet) {
      for (const char c : alphabet) {
        const std::string text = {a, b, c};
        REQUIRE(valid_json_string(json(text)));
      }
    }
  }
}

TEST_CASE("json: commas stand between members and items, and nowhere else") {
  std::string out;
  Json json(out);
  json.open('{').key("a").open('[').close(']').key("b").open('[').number(1).number(-2).close(']');
  json.key("c").open('{').close('}').key("d").null().key("e").boolean(true).close('}');
  CHECK(out == R"({"a":[],"b":[1,-2],"c":{},"d":null,"e":true})");
}

TEST_CASE("json: an empty text may be null") {
  std::string out;
  Json(out).open('[').text("").text_or_null("").text_or_null("x").close(']');
  CHECK(out == R"(["",null,"x"])");
}

TEST_CASE("json: seconds have six decimals") {
  std::string out;
  Json(out).open('[').seconds(std::chrono::microseconds(1'000'042)).seconds({}).close(']');
  CHECK(out == "[1.000042,0.000000]");
}

}  // namespace portico::core
