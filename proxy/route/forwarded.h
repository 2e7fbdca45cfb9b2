// Forwarding fields: who a request is taken to come from, and what endpoints are told of it.
//
// Owned by the router, immutable, any thread. A client is never believed: what it says in
// X-Forwarded-*, Forwarded, X-Real-IP and the like is removed, and told anew by us. A peer in
// trusted_proxies is: its chain is walked from right to left over trusted hops, and what stands
// left of the first that is not trusted is dropped (RFC 7239 §8.1).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "proxy/net/address.h"
#include "proxy/serve/exchange.h"

namespace portico::route {

/// Where a request comes from, as far as it is believed.
struct Origin {
  net::Address client;
  bool secure = false;
  bool by_trusted_proxy = false;  ///< the peer of the socket is one
  std::string chain;  ///< for X-Forwarded-For: the client, then the hops; empty without an IP
  std::string host;   ///< for X-Forwarded-Host: what the client wrote; empty where it wrote none
};

class Forwarded {
 public:
  explicit Forwarded(std::vector<net::Network> trusted) : trusted_(std::move(trusted)) {}

  /// Reads; changes nothing. Of several kinds of fields that a trusted proxy sends, X-Forwarded-*
  /// counts before Forwarded, that before X-Real-IP. Of X-Forwarded-Proto and -Host the last value
  /// counts: the one that the trusted peer wrote itself. The Host for routing is never one of
  /// these.
  Origin origin(const serve::Exchange& exchange) const;

 private:
  bool trusts(const net::Address& address) const;
  std::size_t walk(Origin& origin, const std::vector<std::string>& hops) const;
  void believe(Origin& origin, const http::Headers& fields) const;
  void believe_x_fields(Origin& origin, const http::Headers& fields) const;
  void believe_forwarded(Origin& origin, const http::Headers& fields) const;

  std::vector<net::Network> trusted_;
};

/// Removes what only we may tell (or only a trusted proxy), and all that a CGI-like naming could
/// mistake for it: names with "_", "Proxy", Script-Name, Path-Info, X-Original-URL ... Then adds
/// X-Forwarded-For, -Proto, -Host, X-Real-IP and X-Request-ID.
///
/// request_id  must outlive the head (the trace's)
void tell_origin(http::Headers& fields, const Origin& origin, std::string_view request_id);

/// Whether a client's field of this (lower-case) name is removed by tell_origin.
bool untold(std::string_view name, bool by_trusted_proxy);

}  // namespace portico::route
