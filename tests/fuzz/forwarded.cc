// Forwarding fields and log lines from hostile bytes: the fields of a request that a trusted proxy
// (first byte odd) or a stranger (even) sends. Whatever comes, one value of each of our fields is
// told, what is told may stand in a head, and a log line stays one line.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "proxy/http/h1_write.h"
#include "proxy/route/forwarded.h"
#include "proxy/route/log_line.h"
#include "tests/support/fake_exchange.h"

namespace {

using namespace portico;

void require(bool holds) {
  if (!holds) std::abort();
}

void check_told(const http::Headers& fields) {
  require(fields.count("x-forwarded-proto") == 1);
  for (const char* name : {"x-forwarded-for", "x-real-ip", "x-forwarded-host", "x-request-id"})
    require(fields.count(name) == 1);
  for (const http::Field& field : fields) {
    require(http::valid_name(field.name) && http::valid_value(field.value));
    require(field.name.find('_') == std::string_view::npos);
  }
}

void check_lines(const serve::Exchange& exchange) {
  for (const auto format :
       {conf::LogFormat::common, conf::LogFormat::combined, conf::LogFormat::json}) {
    std::string line;
    route::append_line(line, format, exchange, route::WallTime());
    for (const char c : line) require(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const route::Forwarded forwarded({*net::Network::parse("10.0.0.0/8")});
  if (size == 0) return 0;
  http::RequestHead head;
  http::RequestReader reader({.header_bytes = 1 << 16});
  std::string text = "GET /a HTTP/1.1\r\nhost: a\r\n";
  text.append(reinterpret_cast<const char*>(data) + 1, size - 1).append("\r\n\r\n");
  core::Slice input = core::Slice::copy(text);
  if (reader.feed(input, head) != http::Progress::head) return 0;
  tests::FakeExchange exchange("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  exchange.mutable_request() = std::move(head);
  exchange.come_from(data[0] % 2 == 1 ? "10.0.0.1:1" : "192.0.2.7:1");
  const route::Origin origin = forwarded.origin(exchange);
  route::tell_origin(exchange.mutable_request().fields, origin, "id");
  check_told(exchange.request().fields);
  check_lines(exchange);
  return 0;
}
