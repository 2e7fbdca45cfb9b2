// Addresses as they stand in forwarding fields. Pure; any thread.
#pragma once

#include <optional>
#include <string_view>

#include "conf/config.h"
#include "proxy/net/address.h"

namespace portico::route {

/// "192.0.2.1", "192.0.2.1:80", "2001:db8::1", "[2001:db8::1]", "[2001:db8::1]:80" as found in
/// X-Forwarded-For and, without its quotes, in Forwarded's for= (RFC 7239 §6). An IPv4 address in
/// IPv6 clothes is IPv4. Nothing for names, "unknown", "_hidden", zones and blanks.
std::optional<net::Address> parse_node(std::string_view text);

/// The range that the operator wrote.
net::Network network(const conf::Network& written);

}  // namespace portico::route
