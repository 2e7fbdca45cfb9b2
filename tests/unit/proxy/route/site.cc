#include "proxy/route/site.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "proxy/route/methods.h"
#include "tests/support/fake_exchange.h"

namespace portico::route {
namespace {

using core::Fault;
using tests::FakeExchange;

conf::Route written(const std::string& path) {
  conf::Route route;
  route.path = path;
  route.handler = conf::ToPool{"pool"};
  return route;
}

Site site_of(const std::vector<std::string>& paths) {
  std::vector<Route> routes;
  for (const std::string& path : paths) routes.emplace_back(written(path), nullptr);
  return Site(conf::Site(), std::move(routes), nullptr);
}

std::string found(const Site& site, std::string_view path) {
  const Route* route = site.find(path);
  return route == nullptr ? "none" : std::string(route->path());
}

Fault admitted(const conf::Route& route, const std::string& head) {
  FakeExchange exchange(head);
  const auto result = Route(route, nullptr).admit(exchange);
  return result ? Fault::none : result.error().fault;
}

}  // namespace

TEST_CASE("route: a prefix takes whole segments only (CVE-2026-27587)") {
  const Site site = site_of({"/blog/", "/admin", "/a/b/"});
  CHECK(found(site, "/blog/") == "/blog/");
  CHECK(found(site, "/blog/x/y") == "/blog/");
  CHECK(found(site, "/blogger") == "none");
  CHECK(found(site, "/admin") == "/admin");
  CHECK(found(site, "/admin/") == "/admin");
  CHECK(found(site, "/administrator") == "none");
  CHECK(found(site, "/a/b") == "/a/b/");
  CHECK(found(site, "/a") == "none");
  CHECK(found(site, "/") == "none");
}

TEST_CASE("route: a last slash of the prefix makes no difference (complaint 28)") {
  CHECK(found(site_of({"/blog/"}), "/blog") == "/blog/");
  CHECK(found(site_of({"/blog"}), "/blog/") == "/blog");
}

TEST_CASE("route: paths are case-sensitive") {
  CHECK(found(site_of({"/Admin/"}), "/admin/") == "none");
}

TEST_CASE("route: the longest prefix wins, in whatever order they are written") {
  const Site site = site_of({"/", "/api/", "/api/v2/", "/api/v2/users/"});
  CHECK(found(site, "/x") == "/");
  CHECK(found(site, "/api/v1") == "/api/");
  CHECK(found(site, "/api/v2") == "/api/v2/");
  CHECK(found(site, "/api/v2x") == "/api/");
  CHECK(found(site, "/api/v2/users/7") == "/api/v2/users/");
  const Site turned = site_of({"/api/v2/", "/", "/api/"});
  CHECK(found(turned, "/api/v2/x") == "/api/v2/");
}

TEST_CASE("route: the whole site takes everything, the asterisk too") {
  const Site site = site_of({"/"});
  CHECK(found(site, "/") == "/");
  CHECK(found(site, "*") == "/");
  CHECK(found(site_of({"/x/"}), "*") == "none");
}

TEST_CASE("route: sets its limits, and refuses a told length above them at once") {
  conf::Route route = written("/");
  route.limits.body = 10;
  route.timeouts.body = std::chrono::seconds(7);
  route.timeouts.send = std::chrono::seconds(8);
  FakeExchange exchange("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n");
  REQUIRE(Route(route, nullptr).admit(exchange));
  CHECK(exchange.limits().body_bytes == 10);
  CHECK(exchange.limits().body_wait == std::chrono::seconds(7));
  CHECK(exchange.limits().send_wait == std::chrono::seconds(8));
  CHECK(admitted(route, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 11\r\n\r\n") ==
        Fault::body_too_large);
  CHECK(admitted(route, "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n") ==
        Fault::none);
}

TEST_CASE("route: its own limits of the head are applied (header bloat, RFC 6585 5)") {
  const std::string head = "GET /abc HTTP/1.1\r\nHost: a\r\nX: 12345\r\n\r\n";
  conf::Route route = written("/");
  route.limits.header_bytes = head.size();
  route.limits.header_fields = 2;
  route.limits.target_bytes = 4;
  CHECK(admitted(route, head) == Fault::none);
  route.limits.header_bytes = head.size() - 1;
  CHECK(admitted(route, head) == Fault::head_too_large);
  route.limits.header_bytes = head.size();
  route.limits.header_fields = 1;
  CHECK(admitted(route, head) == Fault::head_too_large);
  route.limits.header_fields = 2;
  route.limits.target_bytes = 3;
  CHECK(admitted(route, head) == Fault::target_too_long);
}

TEST_CASE("methods: TRACE and CONNECT are never served, unknown ones only where a site says so") {
  conf::Site rules;
  const Site strict(rules, {}, nullptr);
  rules.unsafe_unknown_methods = true;
  const Site lenient(rules, {}, nullptr);
  for (const char* known : {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND",
                            "MKCOL", "LOCK", "VERSION-CONTROL", "QUERY"})
    CHECK(strict.serves(known));
  for (const char* unknown : {"BREW", "get", "Get", "GETX", "", "PRI"}) {
    CHECK_FALSE(strict.serves(unknown));
    CHECK(lenient.serves(unknown));
  }
  for (const char* forbidden : {"TRACE", "CONNECT"}) {
    CHECK(registered_method(forbidden));
    CHECK_FALSE(strict.serves(forbidden));
    CHECK_FALSE(lenient.serves(forbidden));
  }
}

}  // namespace portico::route
