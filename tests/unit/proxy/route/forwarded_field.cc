#include "proxy/route/forwarded_field.h"

#include <catch2/catch.hpp>

namespace portico::route {
namespace {

// "for/proto/host" of each element.
std::string read(std::string_view value) {
  const auto elements = parse_forwarded(value);
  if (!elements) return "none";
  std::string out;
  for (const ForwardedElement& element : *elements)
    out += "(" + element.from + "/" + element.proto + "/" + element.host + ")";
  return out;
}

}  // namespace

TEST_CASE("Forwarded: the examples of RFC 7239 4") {
  CHECK(read("for=\"_gazonk\"") == "(_gazonk//)");
  CHECK(read("For=\"[2001:db8:cafe::17]:4711\"") == "([2001:db8:cafe::17]:4711//)");
  CHECK(read("for=192.0.2.60;proto=http;by=203.0.113.43") == "(192.0.2.60/http/)");
  CHECK(read("for=192.0.2.43, for=198.51.100.17") == "(192.0.2.43//)(198.51.100.17//)");
}

TEST_CASE("Forwarded: quoted strings may hold separators and escapes") {
  CHECK(read("for=\"a,b;c\\\"d\";host=\"x.example:80\" ,\tfor=y") ==
        "(a,b;c\"d//x.example:80)(y//)");
  CHECK(read("secret=\"x\";for=a") == "(a//)");
}

TEST_CASE("Forwarded: a value with any fault in it is not believed at all") {
  for (const char* bad : {"", "for", "for=", "for=a,", ",for=a", "for=a;", "for=a b", "=a",
                          "for=\"a", "for=\"a\\", "for=a;for=b", "for=a;proto=http;proto=https",
                          "for=[::1]", "for=\"\"", "for=a:80", "for =a;", "for=a, x"})
    CHECK(read(bad) == "none");
}

}  // namespace portico::route
