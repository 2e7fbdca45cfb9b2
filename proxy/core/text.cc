#include "proxy/core/text.h"

#include <algorithm>
#include <array>
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

bool same_letters(const char* a, const char* b, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i)
    if (a[i] != b[i] && lower(a[i]) != lower(b[i])) return false;
  return true;
}

std::string lower_copy(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), lower);
  return out;
}

std::string_view trim(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

std::optional<std::uint64_t> decimal(std::string_view text) {
  constexpr std::size_t safe_digits = 19;  // 10^19 - 1 still fits
  if (text.empty()) return std::nullopt;
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto digit = static_cast<std::uint64_t>(text[i]) - '0';
    if (digit > 9) return std::nullopt;
    if (i >= safe_digits && number > (UINT64_MAX - digit) / 10) return std::nullopt;
    number = number * 10 + digit;
  }
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
