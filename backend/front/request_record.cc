#include "backend/front/request_record.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include "backend/record/record.h"
#include "proxy/http/path.h"

namespace portico::backend {
namespace {

using core::Error;
using core::Fault;

constexpr std::string_view writing = "writing the record for a worker";

std::uint8_t version_number(http::Version version) {
  if (version == http::Version::http2) return 20;
  return version == http::Version::http11 ? 11 : 10;
}

record::BodyPlace place_of(const RequestBody& body) {
  if (body.size() == 0) return record::BodyPlace::none;
  return body.in_memory() ? record::BodyPlace::in_record : record::BodyPlace::descriptor;
}

record::Record addressed(const Flight& flight, unsigned front_thread) {
  record::Record record;
  record.cell = flight.cell();
  record.serial = flight.serial();
  record.front_thread = static_cast<std::uint16_t>(front_thread);
  return record;
}

std::uint32_t whole_milliseconds(std::chrono::milliseconds time) {
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(time.count(), 0, UINT32_MAX));
}

void fill_head(record::Record& record, const http::RequestHead& head) {
  record.http_version = version_number(head.version);
  record.method = head.method;
  record.target = head.target;
  record.query = head.where.query;
  record.has_length = head.framing.kind != http::Framing::Kind::none;
}

void fill_body(record::Record& record, const RequestBody& body) {
  record.content_length = body.size();
  record.body_place = place_of(body);
}

// The length of chunks is known only at their end.
void expect_feed(record::Record& record, const http::Framing& framing) {
  record.body_place = record::BodyPlace::feed;
  record.has_length = framing.kind == http::Framing::Kind::length;
  if (record.has_length) record.content_length = framing.length;
}

// SERVER_PORT is the public one: what the client wrote, else the scheme's.
void fill_names(record::Record& record, const serve::Exchange& exchange, const std::string& client,
                const std::string& fallback_host) {
  const serve::Trace& trace = exchange.trace();
  const http::Target& where = exchange.request().where;
  record.request_id = trace.request_id.view();
  record.client_address = client;
  record.client_port = trace.client.port();
  record.https = trace.secure;
  record.server_name = where.host.empty() ? std::string_view(fallback_host) : where.host;
  const std::uint16_t usual = trace.secure ? 443 : 80;
  record.server_port = where.port != 0 ? where.port : usual;
}

void write_fields(record::RecordWriter& writer, const http::Headers& fields) {
  for (const http::Field& field : fields) {
    if (field.name != "content-length") writer.field(field.name, field.value);
  }
}

std::string_view below(std::string_view path, std::string_view script_name) {
  return path.substr(std::min(path.size(), script_name.size()));
}

core::Result<void> attach_body(Flight& flight, const RequestBody& body) {
  if (place_of(body) != record::BodyPlace::descriptor) return {};
  auto descriptor = body.file().read_only();
  if (!descriptor) return descriptor.error();
  flight.body() = std::move(*descriptor);
  return {};
}

/// fill  sets what only the caller knows
template <typename Fill>
core::Result<void> write_record(Flight& flight, const serve::Exchange& exchange,
                                std::string_view script_name, Fill&& fill,
                                std::string_view inline_body = {}) {
  const http::RequestHead& head = exchange.request();
  const auto path = http::percent_decode(below(head.where.path, script_name));
  if (!path || path->find('\0') != std::string::npos) return Error{Fault::bad_target, 0, writing};
  const std::string client = exchange.trace().client.host_text();
  const std::string local = exchange.connection().local.host_text();
  record::Record record = addressed(flight, exchange.loop().index());
  fill_head(record, head);
  fill_names(record, exchange, client, local);
  record.script_name = script_name;
  record.path_info = *path;
  fill(record);
  record::RecordWriter writer(flight.record());
  writer.begin(record);
  write_fields(writer, head.fields);
  flight.inline_body() = inline_body;
  if (!writer.finish_before(inline_body)) return Error{Fault::head_too_large, 0, writing};
  return {};
}

}  // namespace

core::Result<void> write_request(Flight& flight, const serve::Exchange& exchange,
                                 const RequestBody& body, std::string_view script_name,
                                 std::chrono::milliseconds response) {
  const auto written = write_record(
      flight, exchange, script_name,
      [&](record::Record& record) {
        record.response_ms = whole_milliseconds(response);
        fill_body(record, body);
      },
      body.in_memory() ? body.bytes() : std::string_view());
  return written ? attach_body(flight, body) : written;
}

core::Result<void> write_streamed_request(Flight& flight, const serve::Exchange& exchange,
                                          std::string_view script_name) {
  return write_record(flight, exchange, script_name, [&](record::Record& record) {
    expect_feed(record, exchange.request().framing);
  });
}

core::Result<void> write_probe(Flight& flight, const Probe& probe, unsigned front_thread) {
  const bool is_health = probe.purpose == Purpose::health;
  const std::string_view path = probe.target.substr(0, probe.target.find('?'));
  const auto decoded = http::percent_decode(path);
  record::Record record = addressed(flight, front_thread);
  record.method = "GET";
  record.target = probe.target;
  record.path_info = decoded ? std::string_view(*decoded) : path;
  if (path.size() < probe.target.size()) record.query = probe.target.substr(path.size() + 1);
  record.client_address = "127.0.0.1";
  record.server_name = probe.host;
  record.server_port = 80;
  record.request_id = is_health ? "health-probe" : "warm-up";
  record::RecordWriter writer(flight.record());
  writer.begin(record);
  writer.field("host", probe.host);
  writer.field("user-agent", is_health ? "Portico/" PORTICO_VERSION " (health)"
                                       : "Portico/" PORTICO_VERSION " (warm-up)");
  if (!writer.finish()) return Error{Fault::head_too_large, 0, writing};
  return {};
}

}  // namespace portico::backend
