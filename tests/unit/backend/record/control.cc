// Control messages: text in, values out, and nothing that a hostile worker could make large.
#include "backend/record/control.h"

#include <catch2/catch.hpp>

using namespace portico::record;

TEST_CASE("control: formatting and parsing is the identity, whatever the values hold") {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  ControlMessage message;
  message.verb = "setup";
  message.set("application", "shop.wsgi:make('x y')").set("threads", 4).set("environ.All", all);
  message.set("empty", "");
  std::string text = format_control(message);
  CHECK(text.starts_with("setup application=shop.wsgi:make%28%27x%20y%27%29 threads=4 "));
  auto parsed = parse_control(text);
  REQUIRE(parsed);
  CHECK(parsed->verb == "setup");
  CHECK(parsed->text("application") == "shop.wsgi:make('x y')");
  CHECK(parsed->number("threads") == 4);
  CHECK(parsed->text("environ.All") == all);
  CHECK(parsed->text("empty") == "");
  CHECK_FALSE(parsed->text("absent"));
}

TEST_CASE("control: numbers are plain and fit") {
  auto number = [](const char* text) { return parse_control(text)->number("n"); };
  CHECK(number("v n=0") == 0);
  CHECK(number("v n=9999999999999999999") == 9999999999999999999U);
  for (const char* bad : {"v n=", "v n=-1", "v n=+1", "v n=1x", "v n=10000000000000000000", "v"})
    CHECK_FALSE(number(bad));
}

TEST_CASE("control: what is not a message is refused") {
  for (const char* bad : {"", " ", " v", "v x", "v =1", "v a=%", "v a=%4", "v a=%zz", "v\n a=1",
                          "v a b=1", "v a\n=1"}) {
    INFO(bad);
    CHECK_FALSE(parse_control(bad));
  }
  CHECK(parse_control("v  a=1 ")->text("a") == "1");
}

TEST_CASE("control: messages and their values are bounded") {
  CHECK_FALSE(parse_control("v a=" + std::string(max_control_bytes, 'x')));
  std::string many = "v";
  for (std::size_t i = 0; i < max_control_values; ++i) many += " a=1";
  CHECK(parse_control(many));
  CHECK_FALSE(parse_control(many + " a=1"));
  ControlMessage large;
  large.verb = "v";
  large.set("a", std::string(max_control_bytes, 'x'));
  CHECK(format_control(large).empty());
}
