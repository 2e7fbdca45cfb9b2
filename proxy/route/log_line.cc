#include "proxy/route/log_line.h"

#include <array>
#include <charconv>
#include <ctime>
#include <optional>

#include "proxy/core/text.h"
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

// One JSON object, member by member.
class Members {
 public:
  explicit Members(std::string& out) : out_(out) { out_.push_back('{'); }
  ~Members() { out_.push_back('}'); }
  Members(const Members&) = delete;
  Members& operator=(const Members&) = delete;

  void text(std::string_view name, std::string_view value) {
    start(name);
    append_json(out_, value);
  }
  void text_or_null(std::string_view name, std::string_view value) {
    if (value.empty()) {
      start(name).append("null");
    } else {
      text(name, value);
    }
  }
  void field(std::string_view name, const http::Headers& fields, std::string_view field_name) {
    const auto value = joined(fields, field_name);
    if (value) {
      text(name, *value);
    } else {
      start(name).append("null");
    }
  }
  template <typename Number>
  void number(std::string_view name, Number value) {
    append_number(start(name), value);
  }
  /// Seconds with six decimals; null where one end was not reached.
  void span(std::string_view name, core::Time from, core::Time to) {
    start(name);
    if (from == core::Time() || to == core::Time() || to < from) {
      out_.append("null");
      return;
    }
    const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(to - from).count();
    append_number(out_, micros / 1'000'000);
    std::string fraction = std::to_string(micros % 1'000'000);
    out_.append(".").append(6 - fraction.size(), '0').append(fraction);
  }

 private:
  std::string& start(std::string_view name) {
    if (!first_) out_.push_back(',');
    first_ = false;
    return out_.append("\"").append(name).append("\":");
  }

  std::string& out_;
  bool first_ = true;
};

void add_request(Members& line, const serve::Exchange& exchange) {
  const http::RequestHead& head = exchange.request();
  const serve::Trace& trace = exchange.trace();
  line.text("client", client(exchange).host_text());
  line.text("scheme", trace.secure ? "https" : "http");
  line.text_or_null("host", head.where.host);
  line.text_or_null("method", head.method);
  line.text_or_null("target", head.target);
  line.text("protocol", http::name(head.version));
  line.field("referer", head.fields, "referer");
  line.field("user_agent", head.fields, "user-agent");
}

void add_answer(Members& line, const serve::Trace& trace) {
  line.number("status", status(trace));
  line.number("request_bytes", trace.request_bytes);
  line.number("response_bytes", trace.response_bytes);
  line.text_or_null("upstream", trace.upstream);
  line.number("attempts", trace.attempts);
}

void add_times(Members& line, const serve::Trace& trace) {
  const bool connected = trace.connected != core::Time();
  line.span("total", trace.started, trace.ended);
  line.span("queue", trace.head_complete, trace.handed_over);
  line.span("connect", trace.handed_over, trace.connected);
  line.span("first_byte", connected ? trace.connected : trace.handed_over, trace.first_byte);
}

void add_failure(Members& line, const serve::Trace& trace) {
  const core::Fault fault = trace.error.fault;
  line.text("outcome", name(outcome(trace)));
  if (fault == core::Fault::none) {
    line.text_or_null("cause", "");
    return;
  }
  line.text("cause", core::fault_info(fault).name);
  line.text("detail", core::describe(trace.error));
}

void append_json_line(std::string& out, const serve::Exchange& exchange, WallTime began) {
  const serve::Trace& trace = exchange.trace();
  Members line(out);
  line.text("time", core::utc_stamp(began));
  line.text_or_null("request_id", trace.request_id);
  line.text_or_null("site", trace.site);
  line.text_or_null("route", trace.route);
  add_request(line, exchange);
  add_answer(line, trace);
  add_times(line, trace);
  add_failure(line, trace);
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
  }
}

}  // namespace portico::route
