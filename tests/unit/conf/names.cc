#include "conf/names.h"

#include <catch2/catch.hpp>

using namespace portico::conf;

TEST_CASE("hosts: one canonical form (RFC 9110 4.2.3)") {
  const auto [text, canonical] = GENERATE(table<std::string, std::string>({
      {"shop.example", "shop.example"},
      {"SHOP.Example.", "shop.example"},
      {"localhost", "localhost"},
      {"xn--mnchen-3ya.example", "xn--mnchen-3ya.example"},
      {"127.0.0.1", "127.0.0.1"},
      {"[2001:DB8::0:1]", "[2001:db8::1]"},
      {"*.Shop.Example", "*.shop.example"},
      {"*.example", "*.example"},
  }));
  CAPTURE(text);
  CHECK(parse_host(text).value == canonical);
}

TEST_CASE("hosts: ports, wildcards elsewhere, other characters are refused") {
  const std::string text =
      GENERATE("", ".", "*", "*.", "*.*.example", "a.*", "*a.example", "shop.example:80",
               "shop_1.example", "-a.example", "a..example", "shop.example..", "user@shop.example",
               "shop%2eexample", "m\xC3\xBCnchen.example", "[::1", "[::1]:80", "::1", "[x]",
               "1.2.3", "http://shop.example", "shop.example/x", "*.127.0.0.1", "a b");
  CAPTURE(text);
  CHECK_FALSE(parse_host(text));
}

TEST_CASE("route paths: escapes come to their one form (RFC 3986 6.2.2)") {
  const auto [text, canonical] = GENERATE(table<std::string, std::string>({
      {"/", "/"},
      {"/api", "/api"},
      {"/api/", "/api/"},
      {"/%41%2d%7E", "/A-~"},
      {"/a%20b", "/a%20b"},
      {"/%c3%bc", "/%C3%BC"},
      {"/\xC3\xBC", "/%C3%BC"},
      {"/a:b@c;d=e,f!$&'()*+", "/a:b@c;d=e,f!$&'()*+"},
      {"/..a/.b/c..", "/..a/.b/c.."},
  }));
  CAPTURE(text);
  CHECK(parse_route_path(text).value == canonical);
  CHECK(parse_route_path(canonical).value == canonical);
}

TEST_CASE("route paths: what no request is brought to is refused") {
  const std::string text =
      GENERATE("", "api", "//", "/a//b", "/a/../b", "/.", "/a/..", "/%2e%2e/", "/a%2fb", "/a%5Cb",
               "/a%00", "/a%", "/a%4", "/a%zz", "/a?b", "/a#b", "/a b", "/a\\b", "/a\"b", "/<a>");
  CAPTURE(text);
  CHECK_FALSE(parse_route_path(text));
}

TEST_CASE("references: modules, callables, factories and files") {
  const std::string text =
      GENERATE("shop", "shop.wsgi", "shop.wsgi:application", "app:create_app()", "app:a.b",
               "_a1._b2", "app.py", "sub/app.py:app", "/srv/shop/my app.py", "my-app.py:make()",
               "./my-app.wsgi", "/srv/app.wsgi:app",
               "m\xC3\xB6"
               "del:app");
  CAPTURE(text);
  CHECK(parse_reference(text).value == text);
}

TEST_CASE("references: anything else is refused") {
  const std::string text =
      GENERATE("", ":", "a:", ":a", "a..b", ".a", "a.", "1a", "a-b", "a b", "a/b", "a:b:c",
               "a:b(c)", "a:()", "a()", ".py", ".wsgi", "my-app.wsgi", "a:1", "a\n.py");
  CAPTURE(text);
  CHECK_FALSE(parse_reference(text));
}

TEST_CASE("pools, users and variables: names of their kind") {
  CHECK(parse_pool_name("api-2.blue_x"));
  for (const char* text : {"", "2api", "a:b", "a/b", "-a", "a b"})
    CHECK_FALSE(parse_pool_name(text));
  CHECK(parse_user("www-data"));
  for (const char* text : {"", "Root", "a b", "1a", "-a"}) CHECK_FALSE(parse_user(text));
  CHECK_FALSE(parse_user(std::string(33, 'a')));
  CHECK(parse_variable("DJANGO_SETTINGS_MODULE"));
  for (const char* text : {"", "1A", "A=B", "A-B", "A B"}) CHECK_FALSE(parse_variable(text));
}
