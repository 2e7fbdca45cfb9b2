#include "proxy/run/front_message.h"

#include <catch2/catch.hpp>

using namespace portico::run;

TEST_CASE("front message: what is formatted is parsed") {
  const std::string text = format_message({say::service, "shop.example/blog/", "a b\nc\n"});
  const FrontMessage message = parse_message(text);
  CHECK(message.verb == say::service);
  CHECK(message.argument == "shop.example/blog/");
  CHECK(message.body == "a b\nc\n");
}

TEST_CASE("front message: parts may be empty or missing") {
  CHECK(parse_message("").verb.empty());
  CHECK(parse_message("ready").verb == "ready");
  CHECK(parse_message("ready \n").argument.empty());
  CHECK(parse_message("log \n/var/log/a b").body == "/var/log/a b");
}
