// canonical_host: one value for every way to write a host, and what is none.
#include "proxy/http/authority.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace portico::http {
namespace {

std::string outcome(std::string_view text) {
  const auto authority = canonical_host(text);
  return authority ? host_text(authority->host, authority->port) : "bad";
}

TEST_CASE("host: lower-case, one trailing dot stripped, the port apart") {
  CHECK(outcome("Shop.EXAMPLE") == "shop.example");
  CHECK(outcome("shop.example.") == "shop.example");
  CHECK(outcome("shop.example.:8080") == "shop.example:8080");
  CHECK(outcome("localhost") == "localhost");
  CHECK(outcome("xn--bcher-kva.example") == "xn--bcher-kva.example");
  CHECK(outcome("a-b.c1") == "a-b.c1");
  CHECK(outcome("1.example") == "1.example");
}

TEST_CASE("host: ports of 1-65535 or empty") {
  CHECK(outcome("a:1") == "a:1");
  CHECK(outcome("a:65535") == "a:65535");
  CHECK(outcome("a:00080") == "a:80");
  CHECK(outcome("a:") == "a");
  for (const char* text : {"a:0", "a:65536", "a:000080", "a:8o", "a:+80", "a:-1", "a: 80", "a:80 ",
                           "a:80:80", "a::"}) {
    INFO(text);
    CHECK(outcome(text) == "bad");
  }
}

TEST_CASE("host: userinfo, percent, blanks, underscores and other bytes are refused") {
  for (const char* text :
       {"",    ".",  "..",   "a..b", ".a",  "a..", "u@a",  "u:p@a", "%61", "a%",
        "a b", " a", "a ",   "a,b",  "a_b", "a/b", "a\\b", "a?b",   "a#b", "\xc3\xa4",
        "-a",  "a-", "a.-b", "a*",   "*.a", "a;b", "a\"",  "a\tb",  ":80", ":"}) {
    INFO(text);
    CHECK(outcome(text) == "bad");
  }
  CHECK(outcome(std::string_view("a\0b", 3)) == "bad");
}

TEST_CASE("host: labels of 63 bytes, names of 253") {
  const std::string label(63, 'a');
  CHECK(outcome(label + ".b") == label + ".b");
  CHECK(outcome(label + "a.b") == "bad");
  const std::string name = label + "." + label + "." + label + "." + std::string(61, 'b');
  CHECK(name.size() == 253);
  CHECK(outcome(name + ".") == name);
  CHECK(outcome(name + "b") == "bad");
}

TEST_CASE("host: IPv4 as four decimal numbers; a name that ends in a number is nothing else") {
  CHECK(outcome("127.0.0.1:80") == "127.0.0.1:80");
  CHECK(outcome("255.255.255.255") == "255.255.255.255");
  for (const char* text :
       {"127.1", "1.2.3.4.5", "256.1.1.1", "01.2.3.4", "1.2.3", "2130706433", "a.1"}) {
    INFO(text);
    CHECK(outcome(text) == "bad");
  }
}

TEST_CASE("host: IPv6 in its shortest form, without zone (RFC 5952)") {
  CHECK(outcome("[::1]") == "[::1]");
  CHECK(outcome("[2001:DB8:0:0:0:0:0:1]:443") == "[2001:db8::1]:443");
  CHECK(outcome("[::ffff:1.2.3.4]") == "[::ffff:1.2.3.4]");
  for (const char* text :
       {"[::1", "::1", "[]", "[::1%eth0]", "[::1%25eth0]", "[v1.a]", "[::1]a", "[::1]:", "[::g]",
        "[1.2.3.4]", "[:::1]", "[ ::1]", "[[::1]]", "[::1].", "[1:2:3:4:5:6:7:8:9]"}) {
    INFO(text);
    CHECK(outcome(text) == (std::string(text) == "[::1]:" ? "[::1]" : "bad"));
  }
  CHECK(outcome(std::string_view("[::1\0]", 6)) == "bad");
}

// The reference for names: split, then look at each label.
std::string slow_name(std::string name) {
  if (!name.empty() && name.back() == '.') name.pop_back();
  std::vector<std::string> labels(1);
  for (char c : name) {
    if (c == '.') {
      labels.emplace_back();
    } else {
      labels.back() += c == 'A' ? 'a' : c;
    }
  }
  std::string joined;
  for (const std::string& label : labels) {
    if (label.empty() || label.front() == '-' || label.back() == '-') return "bad";
    if (label.find_first_not_of("a1-") != std::string::npos) return "bad";
    joined += (joined.empty() ? "" : ".") + label;
  }
  if (labels.back().find_first_not_of('1') != std::string::npos) return joined;
  if (labels.size() != 4) return "bad";
  for (const std::string& label : labels) {
    if (label.find_first_not_of('1') != std::string::npos || label.size() > 3) return "bad";
  }
  return joined;
}

template <typename Visit>
void each_string(std::string_view alphabet, int longest, const std::string& text, Visit& visit) {
  visit(text);
  if (longest == 0) return;
  for (char c : alphabet) each_string(alphabet, longest - 1, text + c, visit);
}

TEST_CASE("host: every short name agrees with a slow reference; what is canonical stays so") {
  std::string wrong;
  auto visit = [&](const std::string& text) {
    const std::string found = outcome(text);
    if (found != slow_name(text)) wrong = text;
    if (found != "bad" && outcome(found) != found) wrong = text;
  };
  each_string("aA1.-", 7, "", visit);
  CHECK(wrong == "");
}

}  // namespace
}  // namespace portico::http
