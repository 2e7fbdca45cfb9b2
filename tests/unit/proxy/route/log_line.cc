#include "proxy/route/log_line.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <ctime>
#include <string>

#include "tests/support/fake_exchange.h"

namespace portico::route {
namespace {

using conf::LogFormat;
using std::chrono::microseconds;
using tests::FakeExchange;

struct InTimeZone {
  explicit InTimeZone(const char* zone) {
    ::setenv("TZ", zone, 1);
    ::tzset();
  }
};

// 2000-10-10 20:55:36.5 UTC, the moment of the example in Apache's manual.
WallTime at(int more_seconds = 0) {
  return std::chrono::system_clock::from_time_t(971211336 + more_seconds) +
         std::chrono::milliseconds(500);
}

std::string line(LogFormat format, const serve::Exchange& exchange, int more_seconds = 0) {
  std::string out = "|";
  append_line(out, format, exchange, at(more_seconds));
  return out;
}

FakeExchange answered() {
  return FakeExchange(
      "GET /apache_pb.gif?a=1 HTTP/1.0\r\nHost: shop.example\r\n"
      "Referer: http://www.example.com/start.html\r\n"
      "User-Agent: Mozilla/4.08 [en] (Win98; I ;Nav)\r\n\r\n");
}

core::Time moment(int micros) {
  return core::Time(std::chrono::seconds(100)) + microseconds(micros);
}

}  // namespace

TEST_CASE("log line: common and combined are exactly Apache's") {
  const InTimeZone zone("UTC+7");  // seven hours west of Greenwich, as POSIX writes it
  FakeExchange exchange = answered();
  exchange.trace().status = 200;
  exchange.trace().response_bytes = 2326;
  const std::string common =
      "|192.0.2.7 - - [10/Oct/2000:13:55:36 -0700] \"GET /apache_pb.gif?a=1 HTTP/1.0\" 200 2326";
  CHECK(line(LogFormat::common, exchange) == common);
  CHECK(line(LogFormat::combined, exchange) ==
        common + " \"http://www.example.com/start.html\" \"Mozilla/4.08 [en] (Win98; I ;Nav)\"");
}

TEST_CASE(
    "log line: no body, no referer and no agent are hyphens; the client is the effective one") {
  const InTimeZone zone("UTC0");
  FakeExchange exchange("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n");
  exchange.trace().client = *net::Address::parse("[2001:db8::5]:1");
  exchange.trace().status = 304;
  CHECK(line(LogFormat::combined, exchange, 1) ==
        "|2001:db8::5 - - [10/Oct/2000:20:55:37 +0000] \"HEAD / HTTP/1.1\" 304 - \"-\" \"-\"");
}

TEST_CASE("log line: an exchange without an answer has status 499, one without a head a hyphen") {
  const InTimeZone zone("UTC0");
  FakeExchange exchange("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  exchange.mutable_request() = {};
  CHECK(line(LogFormat::common, exchange, 2) ==
        "|192.0.2.7 - - [10/Oct/2000:20:55:38 +0000] \"-\" 499 -");
}

TEST_CASE("log line: fields of one name are joined; an empty one is not a missing one") {
  const InTimeZone zone("UTC0");
  FakeExchange exchange(
      "GET / HTTP/1.1\r\nHost: a\r\nUser-Agent: x\r\nUser-Agent: y\r\nReferer:\r\n\r\n");
  exchange.trace().status = 200;
  CHECK(line(LogFormat::combined, exchange, 3).ends_with("200 - \"\" \"x, y\""));
}

TEST_CASE("log line: a client cannot end a line or a quotation (log injection)") {
  const InTimeZone zone("UTC0");
  FakeExchange exchange(
      "GET / HTTP/1.1\r\nHost: a\r\nUser-Agent: x\" 200 \\ \xe2\x80\xae\tz\r\n\r\n");
  exchange.trace().status = 200;
  CHECK(line(LogFormat::combined, exchange, 4).ends_with(R"("-" "x\" 200 \\ \xe2\x80\xae\tz")"));
  exchange.mutable_request().target = "/\n127.0.0.1 - - forged\x1b[2J";
  exchange.mutable_request().method = "G\"ET";
  CHECK(
      line(LogFormat::common, exchange, 4).find(R"("G\"ET /\n127.0.0.1 - - forged\x1b[2J HTTP)") !=
      std::string::npos);
}

TEST_CASE("log line, json: everything that is known, times in seconds") {
  FakeExchange exchange = answered();
  serve::Trace& trace = exchange.trace();
  trace.request_id = core::Slice::literal("abc");
  trace.site = "shop.example";
  trace.route = "/";
  trace.upstream = "127.0.0.1:9001";
  trace.client = *net::Address::parse("203.0.113.9:0");
  trace.secure = true;
  trace.started = moment(0);
  trace.head_complete = moment(1000);
  trace.handed_over = moment(3500);
  trace.connected = moment(3600);
  trace.first_byte = moment(1'003'600);
  trace.ended = moment(2'000'007);
  trace.status = 200;
  trace.request_bytes = 5;
  trace.response_bytes = 18'446'744'073'709'551'615u;
  trace.attempts = 2;
  CHECK(
      line(LogFormat::json, exchange) ==
      R"(|{"time":"2000-10-10T20:55:36.500Z","request_id":"abc","site":"shop.example","route":"/",)"
      R"("client":"203.0.113.9","scheme":"https","host":"shop.example","method":"GET",)"
      R"("target":"/apache_pb.gif?a=1","protocol":"HTTP/1.0",)"
      R"("referer":"http://www.example.com/start.html",)"
      R"j("user_agent":"Mozilla/4.08 [en] (Win98; I ;Nav)","status":200,"request_bytes":5,)j"
      R"("response_bytes":18446744073709551615,"upstream":"127.0.0.1:9001","attempts":2,)"
      R"("total":2.000007,"queue":0.002500,"connect":0.000100,"first_byte":1.000000,)"
      R"("outcome":"ok","cause":null})");
}

TEST_CASE("log line, json: stages that were not reached are null; a failure names its cause") {
  FakeExchange exchange("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  serve::Trace& trace = exchange.trace();
  trace.started = moment(0);
  trace.head_complete = moment(10);
  trace.ended = moment(60'000'000);
  trace.status = 503;
  trace.error = {core::Fault::queue_timeout, 0, "waiting for a worker"};
  const std::string text = line(LogFormat::json, exchange);
  CHECK(text.find(R"("request_id":null,"site":null,"route":null)") != std::string::npos);
  CHECK(text.find(R"("referer":null,"user_agent":null)") != std::string::npos);
  CHECK(text.find(R"("upstream":null,"attempts":0)") != std::string::npos);
  CHECK(text.ends_with(R"("total":60.000000,"queue":null,"connect":null,"first_byte":null,)"
                       R"("outcome":"shed","cause":"queue_timeout",)"
                       R"("detail":"queue_timeout while waiting for a worker"})"));
}

TEST_CASE("log line, json: stays valid whatever a client sends (log injection)") {
  FakeExchange exchange(
      "GET / HTTP/1.1\r\nHost: a\r\nUser-Agent: \",\"status\":200,\\ \xff\xe2\x80\xae\r\n\r\n");
  exchange.mutable_request().target = "/\n{\"x\":1}";
  const std::string text = line(LogFormat::json, exchange);
  CHECK(text.find(R"("user_agent":"\",\"status\":200,\\ \ufffd\u202e")") != std::string::npos);
  CHECK(text.find(R"("target":"/\u000a{\"x\":1}")") != std::string::npos);
  CHECK(text.find('\n') == std::string::npos);
}

}  // namespace portico::route
