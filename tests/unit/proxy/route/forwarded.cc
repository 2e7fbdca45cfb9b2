#include "proxy/route/forwarded.h"

#include <catch2/catch.hpp>
#include <string>

#include "tests/support/fake_exchange.h"

namespace portico::route {
namespace {

using tests::FakeExchange;

// 10.0.0.0/8 and Unix sockets are trusted.
Forwarded trusting_ten() {
  return Forwarded({*net::Network::parse("10.0.0.0/8"), *net::Network::parse("unix:")});
}

FakeExchange request(std::string_view peer, const std::string& fields) {
  FakeExchange exchange("GET / HTTP/1.1\r\nHost: shop.example\r\n" + fields + "\r\n");
  exchange.come_from(peer);
  return exchange;
}

Origin origin(std::string_view peer, const std::string& fields) {
  const FakeExchange exchange = request(peer, fields);
  return trusting_ten().origin(exchange);
}

std::string chain(std::string_view peer, const std::string& fields) {
  return origin(peer, fields).chain;
}

// What stands in the request after tell_origin.
FakeExchange told(std::string_view peer, const std::string& fields) {
  FakeExchange exchange = request(peer, fields);
  const Origin from = trusting_ten().origin(exchange);
  tell_origin(exchange.mutable_request().fields, from, "id-1");
  return exchange;
}

}  // namespace

TEST_CASE("forwarded: a client is who its socket says, whatever it claims (RFC 7239 8.1)") {
  const Origin from = origin("192.0.2.7:1",
                             "X-Forwarded-For: 127.0.0.1\r\nX-Forwarded-Proto: https\r\n"
                             "X-Forwarded-Host: evil.example\r\nForwarded: for=127.0.0.1\r\n"
                             "X-Real-IP: 127.0.0.1\r\n");
  CHECK(from.client.host_text() == "192.0.2.7");
  CHECK(from.chain == "192.0.2.7");
  CHECK_FALSE(from.secure);
  CHECK_FALSE(from.by_trusted_proxy);
  CHECK(from.host.empty());
}

TEST_CASE("forwarded: an empty trust list trusts nobody, not even loopback (complaint 24)") {
  FakeExchange exchange = request("127.0.0.1:1", "X-Forwarded-For: 203.0.113.1\r\n");
  CHECK(Forwarded({}).origin(exchange).client.host_text() == "127.0.0.1");
}

TEST_CASE("forwarded: chains are walked from right to left over trusted hops") {
  CHECK(chain("10.0.0.1:1", "X-Forwarded-For: 203.0.113.9\r\n") == "203.0.113.9, 10.0.0.1");
  CHECK(chain("10.0.0.1:1", "X-Forwarded-For: 203.0.113.9, 10.0.0.2\r\n") ==
        "203.0.113.9, 10.0.0.2, 10.0.0.1");
  CHECK(chain("10.0.0.1:1", "X-Forwarded-For: 10.0.0.3, 10.0.0.2\r\n") ==
        "10.0.0.3, 10.0.0.2, 10.0.0.1");
  CHECK(chain("10.0.0.1:1", "") == "10.0.0.1");
}

TEST_CASE("forwarded: what stands left of the first untrusted hop is dropped (spoofing)") {
  const std::string spoofed = "X-Forwarded-For: 127.0.0.1, 10.9.9.9, 203.0.113.9, 10.0.0.2\r\n";
  CHECK(chain("10.0.0.1:1", spoofed) == "203.0.113.9, 10.0.0.2, 10.0.0.1");
  CHECK(origin("10.0.0.1:1", spoofed).client.host_text() == "203.0.113.9");
}

TEST_CASE("forwarded: several fields of one name are one chain") {
  CHECK(chain("10.0.0.1:1", "X-Forwarded-For: 1.2.3.4\r\nX-Forwarded-For: 203.0.113.9\r\n") ==
        "203.0.113.9, 10.0.0.1");
}

TEST_CASE("forwarded: a hop that is no address ends the walk at the proxy that wrote it") {
  for (const char* bad : {"unknown", "_x", "shop.example", "1.2.3", "1.2.3.4%0", "\"1.2.3.4\""}) {
    const std::string field = std::string("X-Forwarded-For: 203.0.113.9, ") + bad + "\r\n";
    CHECK(chain("10.0.0.1:1", field) == "10.0.0.1");
  }
}

TEST_CASE("forwarded: ports and brackets of a chain are understood") {
  CHECK(chain("10.0.0.1:1", "X-Forwarded-For: [2001:db8::1]:443\r\n") == "2001:db8::1, 10.0.0.1");
  CHECK(chain("10.0.0.1:1", "X-Forwarded-For: 203.0.113.9:80\r\n") == "203.0.113.9, 10.0.0.1");
}

TEST_CASE("forwarded: a trusted peer on a Unix socket is no part of the chain") {
  CHECK(chain("unix:/run/x", "X-Forwarded-For: 203.0.113.9\r\n") == "203.0.113.9");
  CHECK(chain("unix:/run/x", "").empty());
}

TEST_CASE("forwarded: scheme and host of a trusted peer, the last value it wrote") {
  const Origin from = origin("10.0.0.1:1",
                             "X-Forwarded-Proto: http, HTTPS\r\n"
                             "X-Forwarded-Host: evil.example, WWW.Shop.Example.:443\r\n");
  CHECK(from.secure);
  CHECK(from.host == "www.shop.example:443");
  CHECK(origin("10.0.0.1:1", "X-Forwarded-Proto: wss\r\n").secure);
  CHECK_FALSE(origin("10.0.0.1:1", "X-Forwarded-Proto: gopher\r\n").secure);
  CHECK(origin("10.0.0.1:1", "X-Forwarded-Host: a b\r\n").host.empty());
}

TEST_CASE("forwarded: https with us stays so unless a trusted peer says otherwise") {
  FakeExchange exchange = request("192.0.2.7:1", "X-Forwarded-Proto: http\r\n");
  exchange.facts().secure = true;
  CHECK(trusting_ten().origin(exchange).secure);
  exchange.come_from("10.0.0.1:1");
  CHECK_FALSE(trusting_ten().origin(exchange).secure);
}

TEST_CASE("forwarded: RFC 7239's field, from the element that names the client") {
  const Origin from = origin(
      "10.0.0.1:1",
      "Forwarded: for=127.0.0.1;proto=http, for=\"[2001:db8::1]:5\";proto=https;host=a.example\r\n"
      "Forwarded: for=10.0.0.2;proto=http;host=inner\r\n");
  CHECK(from.client.host_text() == "2001:db8::1");
  CHECK(from.chain == "2001:db8::1, 10.0.0.2, 10.0.0.1");
  CHECK(from.secure);
  CHECK(from.host == "a.example");
}

TEST_CASE("forwarded: a malformed Forwarded is not believed at all") {
  const Origin from = origin("10.0.0.1:1", "Forwarded: for=203.0.113.9;proto=https, for=\r\n");
  CHECK(from.client.host_text() == "10.0.0.1");
  CHECK_FALSE(from.secure);
}

TEST_CASE("forwarded: X-Forwarded-* counts before Forwarded, that before X-Real-IP") {
  CHECK(chain("10.0.0.1:1", "Forwarded: for=1.1.1.1\r\nX-Forwarded-For: 2.2.2.2\r\n") ==
        "2.2.2.2, 10.0.0.1");
  CHECK(chain("10.0.0.1:1", "X-Real-IP: 3.3.3.3\r\nForwarded: for=1.1.1.1\r\n") ==
        "1.1.1.1, 10.0.0.1");
  CHECK(chain("10.0.0.1:1", "X-Real-IP: 3.3.3.3\r\n") == "3.3.3.3, 10.0.0.1");
}

TEST_CASE("tell origin: endpoints hear it from us alone") {
  const FakeExchange exchange =
      told("192.0.2.7:1",
           "X-Forwarded-For: 127.0.0.1\r\nX-Forwarded-Proto: https\r\nX-Forwarded-Host: evil\r\n"
           "X-Real-IP: 127.0.0.1\r\nForwarded: for=127.0.0.1\r\nX-Request-ID: chosen\r\n");
  CHECK(exchange.field("x-forwarded-for") == "192.0.2.7");
  CHECK(exchange.field("x-real-ip") == "192.0.2.7");
  CHECK(exchange.field("x-forwarded-proto") == "http");
  CHECK(exchange.field("x-forwarded-host") == "shop.example");
  CHECK(exchange.field("x-request-id") == "id-1");
  CHECK(exchange.field("forwarded") == "-");
  for (const char* name :
       {"x-forwarded-for", "x-forwarded-proto", "x-forwarded-host", "x-real-ip", "x-request-id"})
    CHECK(exchange.request().fields.count(name) == 1);
}

TEST_CASE("tell origin: the whole believed chain, and the client alone as X-Real-IP") {
  const FakeExchange exchange =
      told("10.0.0.1:1", "X-Forwarded-For: 9.9.9.9, 203.0.113.9, 10.0.0.2\r\n");
  CHECK(exchange.field("x-forwarded-for") == "203.0.113.9, 10.0.0.2, 10.0.0.1");
  CHECK(exchange.field("x-real-ip") == "203.0.113.9");
}

TEST_CASE("tell origin: without an IP address there is nothing to tell of it") {
  const FakeExchange exchange = told("unix:/run/x", "X-Real-IP: nobody\r\n");
  CHECK(exchange.field("x-forwarded-for") == "-");
  CHECK(exchange.field("x-real-ip") == "-");
}

TEST_CASE("tell origin: a client's underscore twins and httpoxy are dropped (CVE-2015-0219)") {
  const FakeExchange exchange =
      told("192.0.2.7:1",
           "X_Forwarded_For: 127.0.0.1\r\nContent_Type: x\r\nA_B: 1\r\nX.Forwarded.Proto: https\r\n"
           "X-Forwarded!For: 1\r\nScript-Name: /x\r\nPath-Info: /y\r\nProxy: http://evil\r\n"
           "Script.Name: /z\r\nX.Other: kept\r\n");
  for (const char* name : {"x_forwarded_for", "content_type", "a_b", "x.forwarded.proto",
                           "x-forwarded!for", "script-name", "path-info", "proxy", "script.name"})
    CHECK(exchange.field(name) == "-");
  CHECK(exchange.field("x.other") == "kept");
}

TEST_CASE("tell origin: what only proxies may say passes from a trusted one alone") {
  const std::string fields =
      "X-Original-URL: /admin\r\nX-Rewrite-URL: /admin\r\nTrue-Client-IP: 1.1.1.1\r\n"
      "CF-Connecting-IP: 1.1.1.1\r\nX-Forwarded-Prefix: /x\r\nX-Forwarded-Port: 443\r\n"
      "X-Original-Host: x\r\nFront-End-Https: on\r\n";
  const FakeExchange untrusted = told("192.0.2.7:1", fields);
  const FakeExchange trusted = told("10.0.0.1:1", fields);
  for (const char* name :
       {"x-original-url", "x-rewrite-url", "true-client-ip", "cf-connecting-ip",
        "x-forwarded-prefix", "x-forwarded-port", "x-original-host", "front-end-https"}) {
    CHECK(untrusted.field(name) == "-");
    CHECK(trusted.field(name) != "-");
  }
}

TEST_CASE("tell origin: ordinary fields are left alone") {
  const FakeExchange exchange =
      told("192.0.2.7:1",
           "Accept: */*\r\nCookie: a=1\r\nX-CSRFToken: t\r\nX-Forward: 1\r\nVia: 1.1 x\r\n");
  CHECK(exchange.field("accept") == "*/*");
  CHECK(exchange.field("cookie") == "a=1");
  CHECK(exchange.field("x-csrftoken") == "t");
  CHECK(exchange.field("x-forward") == "1");
  CHECK(exchange.field("via") == "1.1 x");
}

}  // namespace portico::route
