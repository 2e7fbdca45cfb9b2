// Root: what new exchanges are served with; one immutable value, swapped as a whole by a reload.
//
// Made from a snapshot and held by shared_ptr: a session takes the newest Root of its server when
// an exchange begins, and the exchange keeps it until it ends, so that a snapshot lives on as long
// as anything that started with it. Any thread may hold one; nobody changes it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "proxy/http/limits.h"
#include "proxy/net/address.h"
#include "proxy/serve/connection_counts.h"
#include "proxy/serve/exchange.h"
#include "proxy/serve/handler.h"

namespace portico::serve {

struct Root {
  std::shared_ptr<const Handler> handler;  ///< usually the router; never null
  /// Hears of exchanges that reach no route; may be null. Lives as long as this Root.
  const Journal* journal = nullptr;
  /// Makes the bodies of error answers; null: a plain line. Lives as long as this Root.
  const ErrorPages* pages = nullptr;
  /// Names a request that is refused before it reaches the handler; null: it has no request ID.
  core::Slice (*make_request_id)() = nullptr;
  http::ReadLimits head;                ///< what a head is read within, before its route is known
  ExchangeLimits limits;                ///< until the router sets those of a route
  ConnectionLimits connections;         ///< of the whole front
  std::vector<net::Network> uncounted;  ///< clients without a cap of their own: trusted proxies
};

}  // namespace portico::serve
