// Writes the heads of HTTP/1 messages from the model, with exactly one framing field.
//
// Pure; the caller's buffer, the caller's thread. Every name and value is checked on its way out:
// no CR, LF, NUL or other control ever leaves in a head, wherever it came from (response
// splitting). Fields of the model that frame or speak of the connection are left out: they are made
// here.
#pragma once

#include <cstdint>
#include <string_view>

#include "proxy/core/bytes.h"
#include "proxy/core/result.h"
#include "proxy/http/head.h"

namespace portico::http {

/// What the head says of the connection.
enum class Connection : std::uint8_t {
  keep,     ///< nothing to HTTP/1.1, "keep-alive" to HTTP/1.0
  close,    ///< "close"
  upgrade,  ///< "upgrade"; the model's Upgrade field is written too
};

/// Appends a request head for an endpoint, always HTTP/1.1.
///
/// target   path and query in canonical form, or "*"
/// fields   with Host; names in any case
/// framing  none, length or chunked; POST, PUT and PATCH without a body say Content-Length: 0
/// Errors   internal: something in it could not be written safely; `out` is as it was
core::Result<void> write_request_head(core::Buffer& out, std::string_view method,
                                      std::string_view target, const Headers& fields,
                                      const Framing& framing, Connection connection);

/// Appends a response head for a client of `version` (the status line always says HTTP/1.1).
///
/// framing  none: Content-Length is head.length where that is known and the status allows it (HEAD,
///          304), else no framing field; length; chunked; until_close (say Connection::close)
/// Errors   as of write_request_head
core::Result<void> write_response_head(core::Buffer& out, const ResponseHead& head,
                                       const Framing& framing, Connection connection,
                                       Version version);

/// "HTTP/1.1 100 Continue\r\n\r\n", and what to say where not even memory is left.
inline constexpr std::string_view continue_head = "HTTP/1.1 100 Continue\r\n\r\n";

/// Whether these may stand in a head: a token; no controls but tabs, no blanks outside.
bool valid_name(std::string_view name);
bool valid_value(std::string_view value);

}  // namespace portico::http
