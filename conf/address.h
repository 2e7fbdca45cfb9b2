// Addresses and networks as operators write them.
//
// Pure functions; any thread; nothing is resolved. Documented in portico.yaml(5), "Values".
#pragma once

#include <string_view>

#include "conf/config.h"
#include "conf/outcome.h"

namespace portico::conf {

/// Where to accept clients: "address:port", ":port", "[v6]:port" or "unix:/path". Port 0 lets the
/// kernel choose. A name is refused: which of its addresses would be meant?
Outcome<Address> parse_listen(std::string_view text);

/// What answers HTTP: "address:port", "name:port", "[v6]:port" or "unix:/path".
Outcome<Address> parse_endpoint(std::string_view text);

/// "10.0.0.0/8", "2001:db8::/32", one address, or "unix". Bits behind the prefix must be zero.
Outcome<Network> parse_network(std::string_view text);

/// Reads an IPv6 address and writes it in the one form of RFC 5952; empty when it is none.
std::string canonical_ip6(std::string_view text);

/// Whether this is an IPv4 address in four decimal parts.
bool is_ip4(std::string_view text);

/// Whether this is a host name: labels of letters, digits and hyphens (RFC 1123 §2.1), at most 253
/// bytes, not all digits at the end (that would read as an IPv4 address).
bool is_host_name(std::string_view text);

}  // namespace portico::conf
