// The request of an exchange, or of a health probe, as a record for a worker.
//
// Pure but for the read-only descriptor of a large body; the front thread. record/README.md rules
// it.
#pragma once

#include <string_view>

#include "backend/front/flight.h"
#include "backend/front/request_body.h"
#include "proxy/core/result.h"
#include "proxy/serve/exchange.h"

namespace portico::backend {

/// Writes the record of `exchange` into the flight (which has its cell).
///
/// script_name  the route's path without its last slash; the canonical path begins with it
/// Errors       head_too_large: the record exceeds record::max_record_bytes; bad_target: a NUL in
///              the path; spool_full: no descriptor for the body
core::Result<void> write_request(Flight& flight, const serve::Exchange& exchange,
                                 const RequestBody& body, std::string_view script_name);

/// Writes a GET of `path` for `host`, as a health probe asks it.
core::Result<void> write_probe(Flight& flight, std::string_view path, std::string_view host,
                               unsigned front_thread);

}  // namespace portico::backend
