// Root: what new exchanges are served with; one immutable value, swapped as a whole by a reload.
//
// Made from a snapshot and held by shared_ptr: a session takes the newest Root of its server when
// an exchange begins, and the exchange keeps it until it ends, so that a snapshot lives on as long
// as anything that started with it. Any thread may hold one; nobody changes it.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "proxy/net/address.h"
#include "proxy/serve/connection_counts.h"
#include "proxy/serve/exchange.h"
#include "proxy/serve/handler.h"

namespace portico::serve {

/// What a request head is read within, before its route is known (the widest of all routes).
struct HeadLimits {
  std::size_t header_bytes = 32 * 1024;  ///< start line and fields; 431
  std::size_t target_bytes = 8 * 1024;   ///< 414
  std::size_t header_fields = 100;       ///< in number, in a head or in trailers; 431
};

struct Root {
  std::shared_ptr<const Handler> handler;  ///< usually the router; never null
  /// Hears of exchanges that reach no route; may be null. Lives as long as this Root.
  const Journal* journal = nullptr;
  /// Makes the bodies of error answers; null: a plain line. Lives as long as this Root.
  const ErrorPages* pages = nullptr;
  HeadLimits head;
  ExchangeLimits limits;                ///< until the router sets those of a route
  ConnectionLimits connections;         ///< of the whole front
  std::vector<net::Network> uncounted;  ///< clients without a cap of their own: trusted proxies
};

}  // namespace portico::serve
