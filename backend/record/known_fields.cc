#include "backend/record/known_fields.h"

#include <array>
#include <cstddef>

namespace portico::record {
namespace {

constexpr std::array<std::string_view, known_field_count> names = {
    "content-type",
    "content-length",
    "cookie",
    "proxy",
    "host",
    "user-agent",
    "accept",
    "accept-encoding",
    "accept-language",
    "accept-charset",
    "referer",
    "authorization",
    "connection",
    "cache-control",
    "pragma",
    "upgrade-insecure-requests",
    "if-modified-since",
    "if-none-match",
    "if-match",
    "if-range",
    "if-unmodified-since",
    "range",
    "origin",
    "dnt",
    "te",
    "via",
    "from",
    "date",
    "expect",
    "forwarded",
    "max-forwards",
    "priority",
    "save-data",
    "sec-gpc",
    "sec-fetch-dest",
    "sec-fetch-mode",
    "sec-fetch-site",
    "sec-fetch-user",
    "sec-ch-ua",
    "sec-ch-ua-mobile",
    "sec-ch-ua-platform",
    "sec-ch-ua-arch",
    "sec-ch-ua-bitness",
    "sec-ch-ua-full-version-list",
    "sec-ch-ua-model",
    "sec-websocket-key",
    "sec-websocket-version",
    "sec-websocket-protocol",
    "sec-websocket-extensions",
    "content-encoding",
    "content-language",
    "content-location",
    "content-disposition",
    "content-md5",
    "content-range",
    "digest",
    "x-requested-with",
    "x-forwarded-for",
    "x-forwarded-proto",
    "x-forwarded-host",
    "x-forwarded-port",
    "x-real-ip",
    "x-request-id",
    "x-correlation-id",
    "x-csrftoken",
    "x-csrf-token",
    "x-xsrf-token",
    "x-api-key",
    "x-http-method-override",
    "x-forwarded-prefix",
    "access-control-request-method",
    "access-control-request-headers",
    "traceparent",
    "tracestate",
    "baggage",
    "early-data",
    "last-event-id",
    "service-worker",
    "purpose",
    "depth",
    "destination",
    "overwrite",
    "hx-request",
    "hx-current-url",
};

constexpr std::size_t slot_count = 512;

constexpr std::size_t slot_of(std::string_view name) {
  std::uint32_t hash = 2166136261U;  // FNV-1a, 32 bits
  for (char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  return (hash ^ hash >> 16) % slot_count;
}

constexpr std::array<std::uint8_t, slot_count> make_slots() {
  std::array<std::uint8_t, slot_count> slots{};
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::size_t slot = slot_of(names[i]);
    while (slots[slot] != 0) slot = (slot + 1) % slot_count;
    slots[slot] = static_cast<std::uint8_t>(i + 1);
  }
  return slots;
}

constexpr std::array<std::uint8_t, slot_count> slots = make_slots();

}  // namespace

std::uint16_t known_field_id(std::string_view lower_case_name) {
  for (std::size_t slot = slot_of(lower_case_name); slots[slot] != 0;
       slot = (slot + 1) % slot_count) {
    if (names[slots[slot] - 1U] == lower_case_name) return slots[slot];
  }
  return 0;
}

std::string_view known_field_name(std::uint16_t id) {
  return id >= 1 && id <= known_field_count ? names[id - 1U] : std::string_view{};
}

}  // namespace portico::record
