#include "proxy/route/limits.h"

#include <algorithm>
#include <limits>

namespace portico::route {
namespace {

std::uint32_t narrowed(std::uint64_t value) {
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(value, std::numeric_limits<std::uint32_t>::max()));
}

}  // namespace

http::ReadLimits head_limits(const conf::Limits& limits) {
  return {.header_bytes = narrowed(limits.header_bytes),
          .target_bytes = narrowed(limits.target_bytes),
          .header_fields = narrowed(limits.header_fields)};
}

serve::ExchangeLimits exchange_limits(const conf::Timeouts& timeouts, const conf::Limits& limits) {
  return {.body_bytes = limits.body,
          .body_wait = timeouts.body,
          .send_wait = timeouts.send,
          .client_rate = limits.client_rate,
          .idle_wait = timeouts.idle,
          .header_wait = timeouts.header};
}

}  // namespace portico::route
