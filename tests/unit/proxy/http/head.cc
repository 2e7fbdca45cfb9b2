// Headers, the facts about methods and statuses, and ready bodies.
#include "proxy/http/head.h"

#include <catch2/catch.hpp>
#include <string>

#include "proxy/http/body.h"
#include "tests/unit/proxy/http/feeding.h"

namespace portico::http {
namespace {

struct Nobody final : core::Active {
  using Active::Active;
  void advance() override {}
};

TEST_CASE("headers: found, counted, set and removed by name") {
  Headers fields;
  fields.add("a", "1");
  fields.add("b", "2");
  fields.add("a", "3");
  CHECK(*fields.find("a") == "1");
  CHECK(fields.find("c") == nullptr);
  CHECK(fields.count("a") == 2);
  CHECK(fields.has("b"));
  fields.set("a", "4");
  CHECK(testing::text_of(fields) == "\na=4\nb=2");
  fields.set("c", "5");
  CHECK(testing::text_of(fields) == "\na=4\nb=2\nc=5");
  fields.remove("b");
  CHECK(testing::text_of(fields) == "\na=4\nc=5");
  fields.clear();
  CHECK(fields.empty());
}

TEST_CASE("headers: what may be there is told by a name's length and ends, in either case") {
  Headers fields;
  const NameBits date = name_bit("date");
  CHECK_FALSE(fields.may_have(date));
  fields.add("Date", "today");
  CHECK(fields.may_have(date));
  CHECK(fields.may_have(date | name_bit("age")));
  CHECK_FALSE(fields.may_have(name_bit("age")));
  const Headers copy = fields;
  CHECK(copy.may_have(date));
  fields.clear();
  CHECK_FALSE(fields.may_have(date));
  fields.set("date", "now");
  CHECK(*fields.find("date") == "now");
  CHECK(name_bit("") == 0);
}

TEST_CASE("headers: copies outlive what they were made of, also in a copy of the headers") {
  Headers copy;
  {
    Headers fields;
    std::string value = "value that is longer than any small string";
    fields.add_copy("name", value);
    fields.add_copy("", "");
    value.assign(value.size(), 'x');
    copy = fields;
  }
  CHECK(testing::text_of(copy) == "\nname=value that is longer than any small string\n=");
}

TEST_CASE("status: every registered one has its phrase") {
  CHECK(reason_phrase(200) == "OK");
  CHECK(reason_phrase(413) == "Content Too Large");
  CHECK(reason_phrase(421) == "Misdirected Request");
  CHECK(reason_phrase(511) == "Network Authentication Required");
  for (int status : {0, 99, 306, 419, 509, 512, 600, -1}) CHECK(reason_phrase(status) == "Unknown");
}

TEST_CASE("status: 1xx, 204, 304, HEAD and accepted CONNECT have no body (RFC 9112 §6.3)") {
  CHECK(bodiless("GET", 100));
  CHECK(bodiless("GET", 204));
  CHECK(bodiless("GET", 304));
  CHECK(bodiless("HEAD", 500));
  CHECK(bodiless("CONNECT", 200));
  CHECK_FALSE(bodiless("CONNECT", 400));
  CHECK_FALSE(bodiless("GET", 205));
  CHECK_FALSE(bodiless("head", 200));
}

TEST_CASE("methods: which are idempotent, which are standard (RFC 9110 §9)") {
  for (const char* method : {"GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"})
    CHECK(idempotent(method));
  for (const char* method : {"POST", "PATCH", "CONNECT", "get", ""})
    CHECK_FALSE(idempotent(method));
  for (const char* method : {"GET", "PATCH", "PROPFIND", "REPORT", "QUERY"})
    CHECK(standard_method(method));
  for (const char* method : {"get", "FOO", "PRI", ""}) CHECK_FALSE(standard_method(method));
}

TEST_CASE("versions have names") {
  CHECK(name(Version::http10) == "HTTP/1.0");
  CHECK(name(Version::http11) == "HTTP/1.1");
  CHECK(name(Version::http2) == "HTTP/2.0");
}

TEST_CASE("ready body: given out by as much as there is room for, then an end that stays") {
  core::Loop loop(core::Loop::Drive::by_hand);
  Nobody reader(loop);
  ReadyBody body(core::Slice::literal("hello"));
  Pull pull = body.pull(3, reader);
  REQUIRE(pull.flow == Flow::data);
  CHECK(std::get<core::Slice>(pull.piece).view() == "hel");
  pull = body.pull(100, reader);
  CHECK(std::get<core::Slice>(pull.piece).view() == "lo");
  CHECK(body.pull(1, reader).flow == Flow::end);
  CHECK(body.pull(1, reader).flow == Flow::end);
}

}  // namespace
}  // namespace portico::http
