#include "proxy/route/error_pages.h"

#include <algorithm>

#include "proxy/core/text.h"
#include "proxy/route/outcome.h"

namespace portico::route {
namespace {

constexpr std::string_view html_start = R"(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<style>
:root { color-scheme: light dark; --ink: #1c2128; --soft: #6a737d; --paper: #f6f7f9; --line: #d8dde3; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e9ed; --soft: #8b949e; --paper: #14181d; --line: #2d343c; }
}
body { margin: 0; min-height: 100vh; display: grid; place-items: center; color: var(--ink);
  background: var(--paper); font: 17px/1.5 system-ui, sans-serif; }
main { max-width: 34rem; padding: 2rem; }
.status { margin: 0; font-size: 3.5rem; font-weight: 200; line-height: 1; color: var(--soft); }
h1 { margin: .3rem 0 1rem; font-size: 1.5rem; font-weight: 600; }
dl { display: grid; grid-template-columns: auto 1fr; gap: .2rem 1rem; margin: 2rem 0 0;
  padding-top: 1rem; border-top: 1px solid var(--line); font-size: .85rem; }
dt { color: var(--soft); }
dd { margin: 0; overflow-wrap: anywhere; font-family: ui-monospace, monospace; }
</style>
)";

// The page needs no more than its own style sheet, whatever finds a way into it.
constexpr std::string_view content_policy = "default-src 'none'; style-src 'unsafe-inline'";

/// What both forms of a page say.
struct Facts {
  std::string title;  // "502 Bad Gateway"
  int status;
  std::string_view reason;
  std::string_view sentence;
  std::string_view layer;
  std::string cause;            // "connection_refused while connecting"
  std::string_view request_id;  // may be empty
};

std::string cause_of(const core::Error& error) {
  std::string cause(core::fault_info(error.fault).name);
  if (!error.doing.empty()) cause.append(" while ").append(error.doing);
  return cause;
}

Facts facts(const serve::Exchange& exchange, const core::Error& error, int status) {
  const core::FaultInfo& info = core::fault_info(error.fault);
  const std::string_view reason = http::reason_phrase(status);
  std::string title = std::to_string(status);
  title.append(" ").append(reason);
  return {std::move(title),
          status,
          reason,
          info.sentence,
          layer(error.fault, exchange.trace()),
          cause_of(error),
          exchange.trace().request_id.view()};
}

void append_row(std::string& out, std::string_view name, std::string_view value) {
  if (value.empty()) return;
  out.append("<dt>").append(name).append("</dt><dd>");
  append_html(out, value);
  out.append("</dd>\n");
}

std::string html(const Facts& facts) {
  std::string out(html_start);
  out.append("<title>").append(facts.title).append("</title>\n</head>\n<body>\n<main>\n");
  out.append("<p class=\"status\">").append(std::to_string(facts.status)).append("</p>\n<h1>");
  append_html(out, facts.reason);
  out.append("</h1>\n<p>");
  append_html(out, facts.sentence);
  out.append("</p>\n<dl>\n");
  append_row(out, "layer", facts.layer);
  append_row(out, "cause", facts.cause);
  append_row(out, "request", facts.request_id);
  return out.append("</dl>\n</main>\n</body>\n</html>\n");
}

std::string text(const Facts& facts) {
  std::string out = facts.title;
  out.append("\n").append(facts.sentence);
  out.append("\n\nlayer: ").append(facts.layer);
  out.append("\ncause: ").append(facts.cause);
  if (!facts.request_id.empty()) out.append("\nrequest: ").append(facts.request_id);
  return out.append("\n");
}

void add_retry_after(http::ResponseHead& head, const serve::Trace& trace) {
  if (head.status != 503) return;
  auto wait = std::chrono::ceil<std::chrono::seconds>(trace.retry_after);
  if (wait.count() <= 0) wait = ErrorPages::usual_retry_after;
  head.fields.add_copy("retry-after", std::to_string(wait.count()));
}

void add_proxy_status(http::ResponseHead& head, const core::FaultInfo& info,
                      std::string_view name) {
  if (info.proxy_status.empty()) return;
  std::string value(name);
  value.append("; error=").append(info.proxy_status);
  value.append("; details=\"").append(info.name).append("\"");
  head.fields.add_copy("proxy-status", value);
}

// The weight of one media range's parameters, in thousandths (RFC 9110 §12.4.2).
int weight(std::string_view parameters) {
  while (!parameters.empty()) {
    const auto end = parameters.find(';');
    const std::string_view one = core::trim(parameters.substr(0, end));
    if (one.size() > 2 && core::lower(one[0]) == 'q' && one[1] == '=') {
      int value = one[2] == '1' ? 1000 : 0;
      int place = 100;
      for (std::size_t i = 4; i < one.size() && one[i] >= '0' && one[i] <= '9'; ++i, place /= 10)
        value += (one[i] - '0') * place;
      return value;
    }
    parameters = end == std::string_view::npos ? std::string_view() : parameters.substr(end + 1);
  }
  return 1000;
}

// The greatest weight that `accept` gives to exactly this type; -1 when it does not name it.
int weight_of(std::string_view accept, std::string_view type) {
  int best = -1;
  while (!accept.empty()) {
    const auto end = accept.find(',');
    const std::string_view range = accept.substr(0, end);
    const auto parameters = range.find(';');
    if (core::equal_ignoring_case(core::trim(range.substr(0, parameters)), type)) {
      best = std::max(
          best, parameters == std::string_view::npos ? 1000 : weight(range.substr(parameters + 1)));
    }
    accept = end == std::string_view::npos ? std::string_view() : accept.substr(end + 1);
  }
  return best;
}

}  // namespace

bool wants_html(std::string_view accept) {
  const int html_weight =
      std::max(weight_of(accept, "text/html"), weight_of(accept, "application/xhtml+xml"));
  return html_weight > 0 && html_weight >= weight_of(accept, "text/plain");
}

void append_html(std::string& out, std::string_view text) {
  for (const char c : text) {
    switch (c) {
      case '&':
        out.append("&amp;");
        break;
      case '<':
        out.append("&lt;");
        break;
      case '>':
        out.append("&gt;");
        break;
      case '"':
        out.append("&quot;");
        break;
      case '\'':
        out.append("&#39;");
        break;
      default:
        out.push_back(c);
    }
  }
}

core::Slice ErrorPages::page(const serve::Exchange& exchange, const core::Error& error,
                             http::ResponseHead& head) const {
  const std::string_view* accept = exchange.request().fields.find("accept");
  const bool as_html = accept != nullptr && wants_html(*accept);
  head.fields.add("content-type",
                  as_html ? "text/html; charset=utf-8" : "text/plain; charset=utf-8");
  head.fields.add("cache-control", "no-store");
  head.fields.add("x-content-type-options", "nosniff");
  if (as_html) head.fields.add("content-security-policy", content_policy);
  add_retry_after(head, exchange.trace());
  add_proxy_status(head, core::fault_info(error.fault), name_);
  const Facts said = facts(exchange, error, head.status);
  return core::Slice::copy(as_html ? html(said) : text(said));
}

}  // namespace portico::route
