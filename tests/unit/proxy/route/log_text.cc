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

TEST_CASE("log text: no sequence of three bytes breaks a line or its quoting") {
  static constexpr std::string_view alphabet = "a\"\\\n\x00\x7f\x80\xbf\xc2\xe2\xed\xf0\xff"sv;
  for (const char a : alphabet) {
    for (const char b : alphabet) {
      for (const char c : alphabet) {
        const std::string text = {a, b, c};
        const std::string line = apache(text);
        REQUIRE(line.find_first_of("\n\r\0\x7f"sv) == std::string::npos);
        REQUIRE(line.find_first_not_of("a\"\\nx0123456789bcdef") == std::string::npos);
      }
    }
  }
}

}  // namespace portico::route
