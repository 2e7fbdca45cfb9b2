#include "proxy/core/text.h"

#include <catch2/catch.hpp>

namespace portico::core {

TEST_CASE("text: case is ASCII's alone") {
  CHECK(equal_ignoring_case("Content-LENGTH", "content-length"));
  CHECK_FALSE(equal_ignoring_case("abc", "abcd"));
  CHECK_FALSE(equal_ignoring_case("@", "`"));
  CHECK_FALSE(equal_ignoring_case("\xc3\x84", "\xc3\xa4"));
  CHECK(lower_copy("ABC-\xc3\x84z[") == "abc-\xc3\x84z[");
}

TEST_CASE("text: trimming takes spaces and tabs, nothing else") {
  CHECK(trim(" \t a b\t ") == "a b");
  CHECK(trim("\r\na") == "\r\na");
  CHECK(trim(" \t ").empty());
  CHECK(trim("").empty());
}

TEST_CASE("text: a number is digits that fit into 64 bits") {
  CHECK(decimal("0") == 0u);
  CHECK(decimal("007") == 7u);
  CHECK(decimal("18446744073709551615") == 18446744073709551615u);
  for (const auto* text :
       {"", "18446744073709551616", "+5", "-5", " 5", "5 ", "0x5", "5_0", "5a", "."})
    CHECK_FALSE(decimal(text));
}

TEST_CASE("text: times in UTC") {
  using std::chrono::milliseconds;
  using std::chrono::system_clock;
  const system_clock::time_point time(std::chrono::seconds(784111777));
  CHECK(http_date(time) == "Sun, 06 Nov 1994 08:49:37 GMT");  // RFC 9110 §5.6.7
  CHECK(utc_stamp(time + milliseconds(7)) == "1994-11-06T08:49:37.007Z");
}

}  // namespace portico::core
