// locate, canonicalise, parse_target: forms, hosts, paths and queries together.
#include "proxy/http/target.h"

#include <catch2/catch.hpp>
#include <string>

#include "tests/unit/proxy/http/feeding.h"

namespace portico::http {
namespace {

std::string parsed(std::string_view method, std::string_view target, std::string_view host = "h") {
  const auto where = parse_target(method, target, &host, {});
  if (!where) return testing::fault_name(where.error().fault);
  constexpr std::string_view forms[] = {"origin", "absolute", "asterisk"};
  std::string text(forms[static_cast<std::size_t>(where->form)]);
  text.append(" ").append(where->scheme).append(" ").append(host_text(where->host, where->port));
  text.append(" ").append(where->path);
  return where->has_query ? text.append("?").append(where->query) : text;
}

TEST_CASE("target: origin form, with path and query") {
  CHECK(parsed("GET", "/a/../b?c=/../d?e", "A.b:8") == "origin  a.b:8 /b?c=/../d?e");
  CHECK(parsed("GET", "/?") == "origin  h /?");
  CHECK(parsed("GET", "/") == "origin  h /");
}

TEST_CASE("target: a query is passed on as it came, bare brackets, braces and bars too") {
  CHECK(parsed("GET", "/?a[b]={1|2}^`%zz%00") == "origin  h /?a[b]={1|2}^`%zz%00");
  for (const char* target : {"/?\"", "/?<", "/?>", "/?\\", "/?#", "/? ", "/?\x80", "/?\x01"}) {
    CHECK(parsed("GET", target) == "bad_target");
  }
}

TEST_CASE("target: absolute form's authority wins over Host (RFC 9112 §3.2.2)") {
  CHECK(parsed("GET", "http://B.c:81/x?y", "a") == "absolute http b.c:81 /x?y");
  CHECK(parsed("GET", "HTTPS://b") == "absolute https b /");
  CHECK(parsed("GET", "http://b?q") == "absolute http b /?q");
  CHECK(parsed("GET", "http://[::1]:2/") == "absolute http [::1]:2 /");
}

TEST_CASE("target: an absolute form with a bad authority, and a bad Host beside it, are refused") {
  for (const char* target : {"http://", "http:///a", "http://u@b/", "http://b:x/", "http://b%41/",
                             "http://a b/", "http://[::1%25lo]/", "http://b_c/"}) {
    INFO(target);
    CHECK(parsed("GET", target) == "bad_host");
  }
  CHECK(parsed("GET", "http://b/", "bad host") == "bad_host");
}

TEST_CASE("target: foreign schemes and other forms are refused") {
  for (const char* target : {"ftp://b/", "httpx://b/", "http:/b", "http:b", "b", "b:80", "", "://b",
                             "*", "**", "?a", "httpsx", "h"}) {
    INFO(target);
    CHECK(parsed("GET", target) == "bad_target");
  }
}

TEST_CASE("target: asterisk of OPTIONS alone; CONNECT is refused (§3.2.3, §3.2.4)") {
  CHECK(parsed("OPTIONS", "*") == "asterisk  h *");
  CHECK(parsed("OPTIONS", "http://b:1") == "asterisk http b:1 *");
  CHECK(parsed("OPTIONS", "http://b/") == "absolute http b /");
  CHECK(parsed("OPTIONS", "http://b?") == "absolute http b /?");
  CHECK(parsed("CONNECT", "b:443") == "method_refused");
  CHECK(parsed("CONNECT", "/") == "method_refused");
}

TEST_CASE("target: no Host is right in HTTP/1.0 alone") {
  CHECK(parse_target("GET", "/", nullptr, {})->host == "");
  RequestHead head;
  head.method = "GET";
  head.target = "/";
  head.version = Version::http2;
  CHECK(locate(head).error().fault == core::Fault::bad_host);
}

TEST_CASE("target: path rules are the site's, asked for after the host is known") {
  RequestHead head;
  head.method = "GET";
  head.target = "/a//b%2fc";
  head.fields.add("host", "h");
  REQUIRE(locate(head));
  CHECK(head.where.path == "");
  CHECK(head.where.raw_path == "/a//b%2fc");
  CHECK_FALSE(canonicalise(head.where, {}));
  REQUIRE(canonicalise(head.where, {false, true}));
  CHECK(head.where.path == "/a//b%2Fc");
}

}  // namespace
}  // namespace portico::http
