// The host of a request in one canonical form, from Host, :authority or an absolute target.
//
// Pure; any thread. Routing, rules and forwarding all use this one value (RFC 9110 §4.2.3, §7.2).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "proxy/core/result.h"

namespace portico::http {

/// host  lower-case, without a trailing dot; an IPv6 address in its shortest form, in brackets
/// port  0 where none was written
struct Authority {
  std::string host;
  std::uint16_t port = 0;

  bool operator==(const Authority&) const = default;
};

/// Checks and canonicalises `host [":" port]`.
///
/// Accepts  DNS names of letters, digits and hyphens (labels of 1-63, 253 in all), IPv4 as four
///          decimal numbers, "[IPv6]"; one trailing dot; ports 1-65535 and the empty port
/// Errors   bad_host: anything else, such as userinfo, percent, zones, underscores, "1.2.3"
/// Source   RFC 3986 §3.2.2, RFC 1123 §2.1, RFC 5952 §4
core::Result<Authority> canonical_host(std::string_view authority);

/// "host" or "host:port": what is written into a Host field.
std::string host_text(std::string_view host, std::uint16_t port);

}  // namespace portico::http
