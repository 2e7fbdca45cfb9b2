#include "proxy/core/text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <ctime>

namespace portico::core {
namespace {

std::tm utc(std::chrono::system_clock::time_point time) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  return parts;
}

std::string formatted(const char* format, const std::tm& parts) {
  std::array<char, 64> out;
  return {out.data(), std::strftime(out.data(), out.size(), format, &parts)};
}

}  // namespace

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(),
                                            [](char x, char y) { return lower(x) == lower(y); });
}

std::string lower_copy(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), lower);
  return out;
}

std::string_view trim(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::optional<std::uint64_t> decimal(std::string_view text) {
  if (text.empty() || text.front() < '0' || text.front() > '9') return std::nullopt;
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::string utc_stamp(std::chrono::system_clock::time_point time) {
  using namespace std::chrono;
  const auto millis = duration_cast<milliseconds>(time.time_since_epoch()).count() % 1000;
  std::array<char, 8> fraction;
  std::snprintf(fraction.data(), fraction.size(), ".%03dZ", static_cast<int>(millis));
  return formatted("%Y-%m-%dT%H:%M:%S", utc(time)) + fraction.data();
}

std::string http_date(std::chrono::system_clock::time_point time) {
  return formatted("%a, %d %b %Y %H:%M:%S GMT", utc(time));
}

}  // namespace portico::core
