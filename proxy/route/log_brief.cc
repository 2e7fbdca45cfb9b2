#include "proxy/route/log_brief.h"

#include <array>
#include <cstdio>
#include <ctime>

#include "proxy/route/log_text.h"

namespace portico::route {
namespace {

// Local time; made once a second and thread.
std::string_view clock_text(WallTime time) {
  thread_local std::time_t made_for = -1;
  thread_local std::array<char, 16> text;
  thread_local std::size_t size = 0;
  const std::time_t second = std::chrono::system_clock::to_time_t(time);
  if (second != made_for) {
    std::tm parts{};
    ::localtime_r(&second, &parts);
    size = std::strftime(text.data(), text.size(), "%H:%M:%S", &parts);
    made_for = second;
  }
  return {text.data(), size};
}

// ECMA-48 §8.3.117 (SGR): green, cyan, yellow, red.
std::string_view colour_of(int status) {
  if (status < 300) return "\x1b[32m";
  if (status < 400) return "\x1b[36m";
  return status < 500 ? "\x1b[33m" : "\x1b[31m";
}

std::string size_text(std::uint64_t bytes) {
  std::array<char, 32> text;
  if (bytes < 1024) return std::to_string(bytes) + " B";
  const bool small = bytes < (1u << 20);
  const double value = static_cast<double>(bytes) / (small ? 1024 : 1 << 20);
  std::snprintf(text.data(), text.size(), "%.1f %s", value, small ? "KiB" : "MiB");
  return text.data();
}

std::string time_text(const serve::Trace& trace) {
  using std::chrono::microseconds;
  const auto took = std::chrono::duration_cast<microseconds>(trace.ended - trace.started).count();
  std::array<char, 32> text;
  const double millis = static_cast<double>(took) / 1000;
  std::snprintf(text.data(), text.size(), millis < 10 ? "%.1f ms" : "%.0f ms", millis);
  return text.data();
}

}  // namespace

void append_brief(std::string& out, const serve::Exchange& exchange, WallTime began,
                  Colours colours) {
  const serve::Trace& trace = exchange.trace();
  const http::RequestHead& head = exchange.request();
  const int status = trace.status != 0 ? trace.status : 499;
  out.append(clock_text(began)).append(" ");
  if (colours == Colours::yes) out.append(colour_of(status));
  out.append(std::to_string(status));
  if (colours == Colours::yes) out.append("\x1b[0m");
  out.append(" ");
  append_apache(out, head.method.empty() ? "-" : head.method);
  out.append(" ");
  append_apache(out, head.target);
  out.append(" ").append(size_text(trace.response_bytes)).append(" ").append(time_text(trace));
  if (trace.error.fault != core::Fault::none)
    out.append(" (").append(core::fault_info(trace.error.fault).name).append(")");
}

}  // namespace portico::route
