#include "proxy/client/keep_alive.h"

#include <algorithm>
#include <cstdint>

#include "proxy/core/text.h"
#include "proxy/http/field_list.h"

namespace portico::client {
namespace {

constexpr std::string_view parameter = "timeout=";
constexpr std::uint64_t most_seconds = 24 * 60 * 60;

std::optional<core::Duration> timeout_of(std::string_view item) {
  if (!core::equal_ignoring_case(item.substr(0, parameter.size()), parameter)) return {};
  const auto seconds = core::decimal(item.substr(parameter.size()));
  if (!seconds) return {};
  return std::chrono::seconds(std::min(*seconds, most_seconds));
}

}  // namespace

std::optional<core::Duration> told_idle_limit(const http::Headers& fields) {
  const std::string_view* value = fields.find("keep-alive");
  if (value == nullptr) return {};
  std::optional<core::Duration> limit;
  http::for_each_item(*value, [&limit](std::string_view item) {
    if (!limit) limit = timeout_of(item);
  });
  return limit;
}

}  // namespace portico::client
