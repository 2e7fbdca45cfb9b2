// The opening handshake of WebSocket, checked on both sides before bytes go through (RFC 6455 §4).
//
// Pure; any thread. It is the only upgrade that is passed on: h2c and others are dropped, as if the
// client had not offered them (RFC 9113 §3.1).
#pragma once

#include <string>
#include <string_view>

#include "proxy/core/result.h"
#include "proxy/http/head.h"

namespace portico::http {

/// Whether this request asks, properly, to become a WebSocket.
///
/// Returns  false where no upgrade is offered, or only others
/// Errors   upgrade_refused: websocket is offered, but not by GET over HTTP/1.1 without a body,
///          with Connection: upgrade, version 13 and one key of 16 bytes in base64
core::Result<bool> websocket_upgrade(const RequestHead& request);

/// Whether this 101 accepts that request: Upgrade, Connection, and the accept value of its key.
/// Check it before drop_response_hop_fields.
bool websocket_accepted(const RequestHead& request, const ResponseHead& response);

/// The accept value of a key: base64(SHA-1(key + GUID)), 28 characters.
std::string websocket_accept(std::string_view key);

}  // namespace portico::http
