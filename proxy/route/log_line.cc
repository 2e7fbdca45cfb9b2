#include "proxy/route/log_line.h"

#include <array>
#include <charconv>
#include <ctime>
#include <optional>

#include "proxy/core/json.h"
#include "proxy/core/text.h"
#include "proxy/route/log_brief.h"
#include "proxy/route/log_text.h"
#include "proxy/route/outcome.h"

namespace portico::route {
namespace {

constexpr int no_answer = 499;

const net::Address& client(const serve::Exchange& exchange) {
  const net::Address& effective = exchange.trace().client;
  return effective.family() != net::Address::Family::none ? effective
                                                          : exchange.connection().client;
}

int status(const serve::Trace& trace) { return trace.status != 0 ? trace.status : no_answer; }

template <typename Number>
void append_number(std::string& out, Number number) {
  std::array<char, 24> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  out.append(digits.data(), end);
}

// Fields of one name are one value, joined as Apache joins them; nothing when there is none.
std::optional<std::string> joined(const http::Headers& fields, std::string_view name) {
  std::optional<std::string> value;
  for (const http::Field& field : fields) {
    if (field.name != name) continue;
    if (value) value->append(", ");
    if (!value) value.emplace();
    value->append(field.value);
  }
  return value;
}

// Apache's [%d/%b/%Y:%H:%M:%S %z] in local time; made once a second and thread.
std::string_view apache_time(WallTime time) {
  thread_local std::time_t made_for = -1;
  thread_local std::array<char, 40> text;
  thread_local std::size_t size = 0;
  const std::time_t second = std::chrono::system_clock::to_time_t(time);
  if (second != made_for) {
    std::tm parts{};
    ::localtime_r(&second, &parts);
    size = std::strftime(text.data(), text.size(), "[%d/%b/%Y:%H:%M:%S %z]", &parts);
    made_for = second;
  }
  return {text.data(), size};
}

void append_request_line(std::string& out, const http::RequestHead& head) {
  if (head.method.empty()) {
    out.push_back('-');
    return;
  }
  append_apache(out, head.method);
  out.push_back(' ');
  append_apache(out, head.target);
  out.append(" ").append(http::name(head.version));
}

void append_common(std::string& out, const serve::Exchange& exchange, WallTime began) {
  append_apache(out, client(exchange).host_text());
  out.append(" - - ").append(apache_time(began)).append(" \"");
  append_request_line(out, exchange.request());
  out.append("\" ");
  append_number(out, status(exchange.trace()));
  out.push_back(' ');
  const std::uint64_t bytes = exchange.trace().response_bytes;
  if (bytes == 0) {
    out.push_back('-');
  } else {
    append_number(out, bytes);
  }
}

void append_quoted_field(std::string& out, const http::Headers& fields, std::string_view name) {
  const auto value = joined(fields, name);
  out.append(" \"");
  append_apache(out, value ? std::string_view(*value) : "-");
  out.push_back('"');
}

void append_combined(std::string& out, const serve::Exchange& exchange, WallTime began) {
  append_common(out, exchange, began);
  append_quoted_field(out, exchange.request().fields, "referer");
  append_quoted_field(out, exchange.request().fields, "user-agent");
}

using core::Json;

void add_field(Json& line, std::string_view name, const http::Headers& fields,
               std::string_view field_name) {
  const auto value = joined(fields, field_name);
  line.key(name);
  if (value) {
    line.text(*value);
  } else {
    line.null();
  }
}

// Null where one end was not reached.
void add_span(Json& line, std::string_view name, core::Time from, core::Time to) {
  line.key(name);
  if (from == core::Time() || to == core::Time() || to < from) {
    line.null();
  } else {
    line.seconds(std::chrono::duration_cast<std::chrono::microseconds>(to - from));
  }
}

void add_request(Json& line, const serve::Exchange& exchange) {
  const http::RequestHead& head = exchange.request();
  const serve::Trace& trace = exchange.trace();
  line.key("client").text(client(exchange).host_text());
  line.key("scheme").text(trace.secure ? "https" : "http");
  line.key("host").text_or_null(head.where.host);
  line.key("method").text_or_null(head.method);
  line.key("target").text_or_null(head.target);
  line.key("protocol").text(http::name(head.version));
  add_field(line, "referer", head.fields, "referer");
  add_field(line, "user_agent", head.fields, "user-agent");
}

void add_answer(Json& line, const serve::Trace& trace) {
  line.key("status").number(status(trace));
  line.key("request_bytes").number(trace.request_bytes);
  line.key("response_bytes").number(trace.response_bytes);
  line.key("upstream").text_or_null(trace.upstream);
  line.key("attempts").number(trace.attempts);
}

void add_times(Json& line, const serve::Trace& trace) {
  const bool connected = trace.connected != core::Time();
  add_span(line, "total", trace.started, trace.ended);
  add_span(line, "queue", trace.head_complete, trace.handed_over);
  add_span(line, "connect", trace.handed_over, trace.connected);
  add_span(line, "first_byte", connected ? trace.connected : trace.handed_over, trace.first_byte);
}

void add_failure(Json& line, const serve::Trace& trace) {
  const core::Fault fault = trace.error.fault;
  line.key("outcome").text(name(outcome(trace)));
  if (fault == core::Fault::none) {
    line.key("cause").null();
    return;
  }
  line.key("cause").text(core::fault_info(fault).name);
  line.key("detail").text(core::describe(trace.error));
}

void append_json_line(std::string& out, const serve::Exchange& exchange, WallTime began) {
  const serve::Trace& trace = exchange.trace();
  Json line(out);
  line.open('{');
  line.key("time").text(core::utc_stamp(began));
  line.key("request_id").text_or_null(trace.request_id.view());
  line.key("site").text_or_null(trace.site);
  line.key("route").text_or_null(trace.route);
  add_request(line, exchange);
  add_answer(line, trace);
  add_times(line, trace);
  add_failure(line, trace);
  line.close('}');
}

}  // namespace

void append_line(std::string& out, conf::LogFormat format, const serve::Exchange& exchange,
                 WallTime began) {
  switch (format) {
    case conf::LogFormat::common:
      return append_common(out, exchange, began);
    case conf::LogFormat::combined:
      return append_combined(out, exchange, began);
    case conf::LogFormat::json:
      return append_json_line(out, exchange, began);
    case conf::LogFormat::brief:
      return append_brief(out, exchange, began, Colours::no);
    case conf::LogFormat::pretty:
      return append_brief(out, exchange, began, Colours::yes);
  }
}

}  // namespace portico::route
