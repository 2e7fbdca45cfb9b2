// The request of an exchange, or of a health probe, as a record for a worker.
//
// Pure but for the read-only descriptor of a large body; the front thread. record/README.md rules
// it.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

#include "backend/front/flight.h"
#include "backend/front/request_body.h"
#include "proxy/core/result.h"
#include "proxy/serve/exchange.h"

namespace portico::backend {

/// Writes the record of `exchange` into the flight (which has its cell).
///
/// script_name  the route's path without its last slash; the canonical path begins with it
/// response     from the claim until the answer counts as late (timeouts.response)
/// Errors       head_too_large: the record exceeds record::max_record_bytes; bad_target: a NUL in
///              the path; spool_full: no descriptor for the body
core::Result<void> write_request(Flight& flight, const serve::Exchange& exchange,
                                 const RequestBody& body, std::string_view script_name,
                                 std::chrono::milliseconds response);

/// The same of a request whose body follows: the flight has the worker's end of its feed already.
/// No response time: how long the client will send nobody knows.
core::Result<void> write_streamed_request(Flight& flight, const serve::Exchange& exchange,
                                          std::string_view script_name);

/// What a request of our own is for; told to the application as User-Agent and request ID.
enum class Purpose : std::uint8_t { health, warm_up };

/// A request of our own: a GET.
struct Probe {
  std::string_view target;  ///< a path with an optional query
  std::string_view host;
  Purpose purpose = Purpose::health;
};
core::Result<void> write_probe(Flight& flight, const Probe& probe, unsigned front_thread);

}  // namespace portico::backend
