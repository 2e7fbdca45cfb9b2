// What of a message may be passed on.
#include "proxy/http/hop.h"

#include <catch2/catch.hpp>
#include <initializer_list>
#include <string>
#include <utility>

#include "proxy/http/field_list.h"

namespace portico::http {
namespace {

using Pairs = std::initializer_list<std::pair<std::string_view, std::string_view>>;

Headers headers(Pairs pairs) {
  Headers fields;
  for (const auto& [name, value] : pairs) fields.add(name, value);
  return fields;
}

std::string names(const Headers& fields) {
  std::string text;
  for (const Field& field : fields) text.append(text.empty() ? "" : " ").append(field.name);
  return text;
}

std::string passed_request(Pairs pairs) {
  Headers fields = headers(pairs);
  drop_request_hop_fields(fields);
  return names(fields);
}

TEST_CASE("list: items are trimmed, empty ones skipped, any case") {
  const Headers fields = headers({{"a", " x ,, Y\t,"}, {"a", "z"}});
  CHECK(lists(fields, "a", "y"));
  CHECK(lists(fields, "a", "Z"));
  CHECK_FALSE(lists(fields, "a", ""));
  CHECK_FALSE(lists(fields, "b", "x"));
}

TEST_CASE("hop: fields of the connection and of framing go (RFC 9110 §7.6.1)") {
  CHECK(passed_request({{"host", "a"},
                        {"connection", "x"},
                        {"keep-alive", "1"},
                        {"proxy-connection", "x"},
                        {"te", "trailers"},
                        {"trailer", "a"},
                        {"transfer-encoding", "chunked"},
                        {"content-length", "1"},
                        {"upgrade", "h2c"},
                        {"http2-settings", "x"},
                        {"expect", "100-continue"},
                        {"proxy-authorization", "x"},
                        {"accept", "b"}}) == "host accept");
}

TEST_CASE("hop: Proxy, Script-Name and Path-Info never pass (CVE-2016-5385, gunicorn's trap)") {
  CHECK(passed_request(
            {{"proxy", "http://evil"}, {"script-name", "/x"}, {"path-info", "/y"}, {"x", "1"}}) ==
        "x");
}

TEST_CASE("hop: what Connection lists goes, but for protected names (CVE-2022-31813)") {
  CHECK(passed_request({{"connection", "close, X-Mine, Cookie"},
                        {"connection", "x-forwarded-for, Host, Authorization, x-request-id"},
                        {"x-mine", "1"},
                        {"x-other", "2"},
                        {"cookie", "a=b"},
                        {"x-forwarded-for", "1.2.3.4"},
                        {"x-request-id", "7"},
                        {"authorization", "b"},
                        {"host", "h"}}) ==
        "x-other cookie x-forwarded-for x-request-id authorization host");
}

TEST_CASE("hop: a response's own fields go, Expect-like names stay") {
  Headers fields = headers({{"connection", "x-a"},
                            {"x-a", "1"},
                            {"proxy-authenticate", "x"},
                            {"content-length", "4"},
                            {"set-cookie", "a"},
                            {"path-info", "x"}});
  drop_response_hop_fields(fields);
  CHECK(names(fields) == "set-cookie path-info");
}

TEST_CASE("hop: protected names, by name and by prefix") {
  for (const char* name :
       {"host", "cookie", "content-type", "content-length", "x-forwarded-proto", "forwarded",
        "x-request-id", "if-none-match", "sec-websocket-key", "range", "cache-control"}) {
    INFO(name);
    CHECK(protected_name(name));
  }
  CHECK_FALSE(protected_name("x-mine"));
  CHECK_FALSE(protected_name("keep-alive"));
}

TEST_CASE("trailers: taken when TE says so, passed when their name is harmless (§6.5.1)") {
  CHECK(accepts_trailers(headers({{"te", "deflate, Trailers"}})));
  CHECK_FALSE(accepts_trailers(headers({{"te", "deflate"}})));
  Headers trailers = headers({{"content-length", "5"},
                              {"host", "a"},
                              {"grpc-status", "0"},
                              {"authorization", "x"},
                              {"transfer-encoding", "chunked"},
                              {"server-timing", "a"},
                              {"x-any", "1"},
                              {"set-cookie", "a=b"}});
  drop_forbidden_trailers(trailers);
  CHECK(names(trailers) == "grpc-status server-timing");
}

TEST_CASE("folding: names that a CGI-like naming would mistake are known (CVE-2015-0219)") {
  CHECK(folds("x_forwarded_for"));
  CHECK(folds("x.real.ip"));
  CHECK(folds("a!b"));
  CHECK_FALSE(folds("x-forwarded-for"));
  Headers fields = headers({{"x_a", "1"}, {"b", "2"}, {"c.d", "3"}, {"e-9", "4"}});
  drop_folding_names(fields);
  CHECK(names(fields) == "b e-9");
}

TEST_CASE("folding: twins of present and of protected names go, lone ones stay") {
  Headers fields = headers({{"x_a", "1"},
                            {"x-a", "2"},
                            {"x_forwarded_for", "3"},
                            {"content_length", "4"},
                            {"transfer.encoding", "5"},
                            {"script_name", "6"},
                            {"my_own", "7"},
                            {"p.q", "8"},
                            {"p_q", "9"}});
  drop_folding_twins(fields);
  CHECK(names(fields) == "x-a my_own");
}

}  // namespace
}  // namespace portico::http
