// Request IDs: what ties a log line, an error page and an endpoint's log together (X-Request-ID).
//
// Any thread: each keeps its own supply of random bytes, so that an ID costs no system call.
#pragma once

#include <string>
#include <string_view>

#include "proxy/core/bytes.h"

namespace portico::route {

/// 32 lower-case hexadecimal digits: 128 bits from the kernel, so that nobody can guess another's.
core::Slice new_request_id();

/// 64 bits in hexadecimal; for what must be unlike another instance's only.
std::string random_name();

/// Whether an ID that a trusted proxy gives may be taken over: 1 to 128 letters, digits and
/// "-_.:+/=@", which need no escaping in a field, a log line or a page.
bool acceptable_request_id(std::string_view id);

}  // namespace portico::route
