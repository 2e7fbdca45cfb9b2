#include "proxy/route/error_pages.h"

#include <catch2/catch.hpp>
#include <string>

#include "proxy/route/counters.h"
#include "tests/support/fake_exchange.h"

namespace portico::route {
namespace {

using core::Fault;
using tests::FakeExchange;

struct Made {
  http::ResponseHead head;
  std::string body;

  std::string field(std::string_view name) const {
    const std::string_view* value = head.fields.find(name);
    return value == nullptr ? "-" : std::string(*value);
  }
  bool says(std::string_view text) const { return body.find(text) != std::string::npos; }
};

Made make(FakeExchange& exchange, core::Error error) {
  const ErrorPages pages("portico-0123");
  Made made;
  made.head.status = core::fault_info(error.fault).status;
  made.body = pages.page(exchange, error, made.head).view();
  return made;
}

FakeExchange asking(const std::string& accept) {
  FakeExchange exchange("GET / HTTP/1.1\r\nHost: a\r\n" +
                        (accept.empty() ? accept : "Accept: " + accept + "\r\n") + "\r\n");
  exchange.mutable_request().target = "/<script>";
  return exchange;
}

}  // namespace

TEST_CASE("error page: text says status, sentence, layer, cause and request ID") {
  FakeExchange exchange = asking("");
  exchange.trace().request_id = core::Slice::literal("abc123");
  exchange.trace().upstream = "10.0.0.5:8000";
  const Made made = make(exchange, {Fault::connection_refused, ECONNREFUSED, "connecting"});
  CHECK(made.body ==
        "502 Bad Gateway\n"
        "The server behind this address refuses connections.\n\n"
        "layer: upstream\ncause: connection_refused while connecting\nrequest: abc123\n");
  CHECK(made.field("content-type") == "text/plain; charset=utf-8");
  CHECK(made.field("cache-control") == "no-store");
  CHECK(made.field("x-content-type-options") == "nosniff");
  CHECK(made.field("content-security-policy") == "-");
}

TEST_CASE("error page: without a request ID the line is left out") {
  FakeExchange exchange = asking("");
  CHECK_FALSE(make(exchange, {Fault::bad_host, 0, ""}).says("request:"));
}

TEST_CASE("error page: HTML says the same, escaped, and loads nothing from anywhere") {
  FakeExchange exchange = asking("text/html");
  exchange.trace().request_id = core::Slice::literal("<i>&\"'");
  const Made made = make(exchange, {Fault::queue_full, 0, ""});
  CHECK(made.field("content-type") == "text/html; charset=utf-8");
  CHECK(made.field("content-security-policy") == "default-src 'none'; style-src 'unsafe-inline'");
  CHECK(made.body.starts_with("<!doctype html>"));
  CHECK(made.body.ends_with("</html>\n"));
  CHECK(made.says("<title>503 Service Unavailable</title>"));
  CHECK(made.says("<h1>Service Unavailable</h1>"));
  CHECK(made.says("<dt>layer</dt><dd>queue</dd>"));
  CHECK(made.says("<dt>cause</dt><dd>queue_full</dd>"));
  CHECK(made.says("<dt>request</dt><dd>&lt;i&gt;&amp;&quot;&#39;</dd>"));
  CHECK(made.says("prefers-color-scheme: dark"));
  CHECK_FALSE(made.says("http:"));
  CHECK_FALSE(made.says("src="));
  CHECK_FALSE(made.says("<script"));
}

TEST_CASE("error page: of every fault; tells no address, no path and no text of the system") {
  for (std::size_t i = 1; i < fault_count; ++i) {
    const core::Error error{static_cast<Fault>(i), ENOENT, "opening the spool"};
    if (core::fault_info(error.fault).status == 499) continue;  // never sent
    for (const char* accept : {"text/html", "text/plain"}) {
      FakeExchange exchange = asking(accept);
      exchange.trace().upstream = "unix:/run/inner.sock";
      const Made made = make(exchange, error);
      CHECK(made.says(core::fault_info(error.fault).name));
      CHECK(made.says("layer"));
      CHECK_FALSE(made.says("inner"));
      CHECK_FALSE(made.says("No such file"));
      CHECK_FALSE(made.says("Unknown"));
      CHECK(made.body.size() < 3000);
    }
  }
}

TEST_CASE("error page: Retry-After stands with 503 alone, and is never zero (RFC 9110 10.2.3)") {
  FakeExchange exchange = asking("");
  CHECK(make(exchange, {Fault::no_endpoint, 0, ""}).field("retry-after") == "5");
  exchange.trace().retry_after = std::chrono::milliseconds(1100);
  CHECK(make(exchange, {Fault::no_endpoint, 0, ""}).field("retry-after") == "2");
  CHECK(make(exchange, {Fault::endpoint_closed, 0, ""}).field("retry-after") == "-");
}

TEST_CASE("error page: Proxy-Status names us and the error (RFC 9209)") {
  FakeExchange exchange = asking("");
  CHECK(make(exchange, {Fault::response_timeout, 0, ""}).field("proxy-status") ==
        "portico-0123; error=http_response_timeout; details=\"response_timeout\"");
  CHECK(make(exchange, {Fault::application_error, 0, ""}).field("proxy-status") == "-");
}

TEST_CASE("error page: HTML only for those who name it (RFC 9110 12.5.1)") {
  CHECK(wants_html("text/html"));
  CHECK(wants_html("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"));
  CHECK(wants_html("TEXT/HTML ; charset=utf-8; q=0.5 , */*;q=0.1"));
  CHECK(wants_html("text/plain;q=0.5, application/xhtml+xml"));
  CHECK(wants_html("text/plain, text/html"));
  CHECK_FALSE(wants_html(""));
  CHECK_FALSE(wants_html("*/*"));
  CHECK_FALSE(wants_html("text/*"));
  CHECK_FALSE(wants_html("application/json"));
  CHECK_FALSE(wants_html("text/html;q=0"));
  CHECK_FALSE(wants_html("text/html;q=0.000, */*"));
  CHECK_FALSE(wants_html("text/plain, text/html;q=0.9"));
  CHECK_FALSE(wants_html("text/htmlx, xtext/html"));
  CHECK_FALSE(wants_html(",;;,q=1,text/html;q=;q=x"));
}

}  // namespace portico::route
