#include "proxy/route/via.h"

#include <catch2/catch.hpp>
#include <string>

#include "tests/support/fake_exchange.h"

namespace portico::route {
namespace {

bool circle(const std::string& via) {
  const auto head = tests::read_head("GET / HTTP/1.1\r\nHost: a\r\nVia: " + via + "\r\n\r\n");
  return Via("portico-1f").circle(head.fields);
}

}  // namespace

TEST_CASE("via: our own name is found wherever it stands (RFC 9110 7.6.3)") {
  CHECK(circle("1.1 portico-1f"));
  CHECK(circle("HTTP/1.1 portico-1f (comment)"));
  CHECK(circle("1.0 fred, 1.1 nowhere.example (Apache/1.1),1.1\tPORTICO-1F"));
  CHECK(circle("1.0 fred\r\nVia: 1.1 portico-1f, 1.1 other"));
}

TEST_CASE("via: other names, and ours in another place, are no circle") {
  CHECK_FALSE(circle("1.1 portico-1f0"));
  CHECK_FALSE(circle("1.1 other (portico-1f)"));
  CHECK_FALSE(circle("portico-1f"));
  CHECK_FALSE(circle(""));
  CHECK_FALSE(Via("portico-1f").circle(http::Headers()));
}

TEST_CASE("via: is added behind what is there, with the version of the message received") {
  auto head = tests::read_head("GET / HTTP/1.0\r\nVia: 1.1 first\r\n\r\n");
  const Via ours("portico-1f");
  ours.add(head);
  REQUIRE(head.fields.count("via") == 2);
  CHECK((head.fields.end() - 1)->value == "1.0 portico-1f");
  CHECK(ours.circle(head.fields));
}

}  // namespace portico::route
