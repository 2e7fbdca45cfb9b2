// Outcome: in one word, how an exchange ended and at whose door that lies, and Layer: where in the
// house it failed. Both follow from the Fault and the Trace. Pure; any thread.
#pragma once

#include <cstdint>
#include <string_view>

#include "proxy/core/result.h"
#include "proxy/serve/exchange.h"

namespace portico::route {

/// Client aborts and refused requests are not counted as failures of a server.
enum class Outcome : std::uint8_t {
  ok,
  client_error,  ///< the request was refused for what it is
  client_gone,   ///< the client left, or did not take its answer
  app_error,     ///< the endpoint or application failed, or answered 5xx itself
  shed,          ///< refused for lack of room: queue, connections, descriptors, shutdown
  edge_error,    ///< we failed
};
inline constexpr std::size_t outcome_count = 6;

Outcome outcome(const serve::Trace& trace);
std::string_view name(Outcome outcome);  ///< "ok", "client-error", "client-gone" ...

/// The layer that an error page names: "edge", "queue", "worker", "app" or "upstream".
std::string_view layer(core::Fault fault, const serve::Trace& trace);

}  // namespace portico::route
