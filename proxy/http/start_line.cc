#include "proxy/http/start_line.h"

#include <algorithm>
#include <optional>

#include "proxy/core/text.h"
#include "proxy/http/chars.h"

namespace portico::http {
namespace {

using core::Fault;

constexpr bool digit(char c) { return c >= '0' && c <= '9'; }

// Only these two. Another digit is a version we do not speak, anything else is no version.
std::optional<Version> parse_version(std::string_view text) {
  if (text == "HTTP/1.1") return Version::http11;
  if (text == "HTTP/1.0") return Version::http10;
  return std::nullopt;
}

Fault version_fault(std::string_view text) {
  const bool other = text.size() == 8 && text.substr(0, 5) == "HTTP/" && digit(text[5]) &&
                     text[6] == '.' && digit(text[7]);
  return other ? Fault::bad_version : Fault::bad_request_line;
}

bool visible(std::string_view target) {
  return std::none_of(target.begin(), target.end(), [](char c) {
    return static_cast<unsigned char>(c) <= 0x20 || static_cast<unsigned char>(c) == 0x7F;
  });
}

}  // namespace

Fault judge_request_line(std::string_view begin) {
  const std::string_view window = begin.substr(0, longest_method + 1);
  const std::string_view method = window.substr(0, window.find(' '));
  if (!chars::all(method, chars::token)) return Fault::bad_request_line;
  if (method.size() > longest_method) return Fault::method_refused;
  return method.empty() && !begin.empty() ? Fault::bad_request_line : Fault::none;
}

Fault parse_request_line(std::string_view line, const ReadLimits& limits, RequestHead& head) {
  if (const Fault fault = judge_request_line(line); fault != Fault::none) return fault;
  const auto first = line.find(' ');
  if (first == std::string_view::npos) return Fault::bad_request_line;
  head.method = line.substr(0, first);
  const auto second = line.find(' ', first + 1);
  if (second == std::string_view::npos) return Fault::bad_request_line;
  const std::string_view target = line.substr(first + 1, second - first - 1);
  if (target.empty() || !visible(target)) return Fault::bad_request_line;
  if (target.size() > limits.target_bytes) return Fault::target_too_long;
  head.target = target;
  const std::string_view version = line.substr(second + 1);
  const auto known = parse_version(version);
  if (!known) return version_fault(version);
  head.version = *known;
  return Fault::none;
}

Fault judge_status_line(std::string_view begin) {
  constexpr std::string_view prefix = "HTTP/1.";
  const auto length = std::min(begin.size(), prefix.size());
  return begin.substr(0, length) == prefix.substr(0, length) ? Fault::none : Fault::bad_response;
}

// A missing SP before a missing reason is common and harmless; nothing else is forgiven.
Fault parse_status_line(std::string_view line, ReceivedHead& received) {
  const auto version = parse_version(line.substr(0, 8));
  if (!version || line.size() < 12 || line[8] != ' ') return Fault::bad_response;
  const std::string_view status = line.substr(9, 3);
  if (!std::all_of(status.begin(), status.end(), digit)) return Fault::bad_response;
  if (status[0] == '0' || (line.size() > 12 && line[12] != ' ')) return Fault::bad_response;
  const std::string_view reason = core::trim(line.substr(std::min<std::size_t>(line.size(), 13)));
  if (!chars::all_value(reason)) return Fault::bad_response;
  received.version = *version;
  received.head.status = (status[0] - '0') * 100 + (status[1] - '0') * 10 + (status[2] - '0');
  received.head.reason = reason == reason_phrase(received.head.status) ? "" : reason;
  return Fault::none;
}

}  // namespace portico::http
