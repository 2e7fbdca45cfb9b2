#include "proxy/core/log.h"

#include <catch2/catch.hpp>

namespace portico::core {
namespace {

std::string escaped(std::string_view text) {
  std::string out;
  append_escaped(out, text);
  return out;
}

}  // namespace

TEST_CASE("log: what must not stand raw is escaped, byte by byte") {
  CHECK(escaped("plain text, caf\xc3\xa9 \xe4\xb8\xad \xf0\x9f\x98\x80") ==
        "plain text, caf\xc3\xa9 \xe4\xb8\xad \xf0\x9f\x98\x80");
  CHECK(escaped("a\"b\\c") == "a\"b\\c");  // a traceback quotes file names
  CHECK(escaped("one\r\ntwo\t") == "one\\x0d\\x0atwo\\x09");
  CHECK(escaped(std::string_view("\0\x1b[31m\x7f", 7)) == "\\x00\\x1b[31m\\x7f");
}

TEST_CASE("log: C1 controls, marks of direction and line separators are escaped") {
  CHECK(escaped("\xc2\x9b"
                "31m") == "\\xc2\\x9b31m");  // CSI
  CHECK(escaped("a\xe2\x80\xae"
                "b") == "a\\xe2\\x80\\xaeb");                             // U+202E
  CHECK(escaped("\xe2\x81\xa6") == "\\xe2\\x81\\xa6");                    // U+2066
  CHECK(escaped("\xe2\x80\xa8") == "\\xe2\\x80\\xa8");                    // U+2028
  CHECK(escaped("\xe2\x80\x8f\xd8\x9c") == "\\xe2\\x80\\x8f\\xd8\\x9c");  // U+200F, U+061C
  CHECK(escaped("\xe2\x80\x93\xc2\xa0") == "\xe2\x80\x93\xc2\xa0");       // a dash, a space
}

TEST_CASE("log: bytes that are not UTF-8 are escaped (RFC 3629)") {
  CHECK(escaped("\x9b") == "\\x9b");
  CHECK(escaped("\xc3") == "\\xc3");
  CHECK(escaped("\xc3(") == "\\xc3(");
  CHECK(escaped("\xc0\xaf") == "\\xc0\\xaf");                    // overlong
  CHECK(escaped("\xe0\x80\xaf") == "\\xe0\\x80\\xaf");           // overlong
  CHECK(escaped("\xed\xa0\x80") == "\\xed\\xa0\\x80");           // a surrogate
  CHECK(escaped("\xf4\x90\x80\x80") == "\\xf4\\x90\\x80\\x80");  // beyond U+10FFFF
  CHECK(escaped("\xff") == "\\xff");
}

}  // namespace portico::core
