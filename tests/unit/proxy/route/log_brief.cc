#include "proxy/route/log_brief.h"

#include <catch2/catch.hpp>

#include "tests/support/fake_exchange.h"

namespace portico::route {
namespace {

using namespace std::chrono_literals;

/// A line without its time of day.
std::string line(const serve::Exchange& exchange, Colours colours = Colours::no) {
  std::string out;
  append_brief(out, exchange, WallTime(), colours);
  REQUIRE(out.size() > 9);
  return out.substr(9);
}

void answer(tests::FakeExchange& exchange, int status, std::uint64_t bytes, core::Duration took) {
  serve::Trace& trace = exchange.trace();
  trace.status = status;
  trace.response_bytes = bytes;
  trace.started = core::Time(1s);
  trace.ended = trace.started + took;
}

}  // namespace

TEST_CASE("log brief: status, method, target, size and time") {
  tests::FakeExchange exchange("GET /a?b HTTP/1.1\r\nHost: x\r\n\r\n");
  answer(exchange, 200, 1536, 3200us);
  CHECK(line(exchange) == "200 GET /a?b 1.5 KiB 3.2 ms");
  answer(exchange, 304, 0, 1234ms);
  CHECK(line(exchange) == "304 GET /a?b 0 B 1234 ms");
  answer(exchange, 200, 3u << 20, 15ms);
  CHECK(line(exchange) == "200 GET /a?b 3.0 MiB 15 ms");
}

TEST_CASE("log brief: the cause of a failure, and a client that left") {
  tests::FakeExchange exchange("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  answer(exchange, 0, 0, 1ms);
  exchange.trace().error = {core::Fault::client_gone, 0, "waiting"};
  CHECK(line(exchange) == "499 GET / 0 B 1.0 ms (client_gone)");
}

TEST_CASE("log brief: colours go by the class of the status, and end with it") {
  tests::FakeExchange exchange("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  for (const auto& [status, code] : {std::pair{200, "32"}, {302, "36"}, {404, "33"}, {500, "31"}}) {
    answer(exchange, status, 0, 1ms);
    CHECK(line(exchange, Colours::yes) ==
          "\x1b[" + std::string(code) + "m" + std::to_string(status) + "\x1b[0m GET / 0 B 1.0 ms");
  }
}

}  // namespace portico::route
