// Fields that belong to one hop: what of a received message may be passed on (RFC 9110 §7.6.1).
//
// Pure; any thread. The Connection field of the incoming message is obeyed first, before any field
// of ours is added, and it can never take away a name that others rely on (CVE-2022-31813).
#pragma once

#include <string_view>

#include "proxy/http/head.h"

namespace portico::http {

/// Removes from a received request what is not for the next hop: fields that Connection lists
/// (unless protected), Connection, Keep-Alive, Proxy-Connection, TE, Trailer, Transfer-Encoding,
/// Content-Length (the framing is in the model), Upgrade, HTTP2-Settings, Expect (answered by us),
/// Proxy (httpoxy), Proxy-Authorization, Script-Name and Path-Info.
/// Ask websocket_upgrade() and accepts_trailers() before.
void drop_request_hop_fields(Headers& fields);

/// Likewise for a received response; Proxy-Authenticate goes as well.
/// Check a 101 (websocket_accepted) before.
void drop_response_hop_fields(Headers& fields);

/// Whether a Connection field may not take this (lower-case) name away: Host, Authorization,
/// Cookie, Content-*, X-Forwarded-*, Forwarded, X-Request-ID, caching and range fields ...
bool protected_name(std::string_view name);

/// Whether the client takes trailers ("TE: trailers", RFC 9110 §10.1.4).
bool accepts_trailers(const Headers& fields);

/// Removes the trailers that may not be passed on: all but a short list of names that say something
/// of the body just sent (digests, gRPC's status, Server-Timing).
void drop_forbidden_trailers(Headers& trailers);

/// Whether a CGI-like naming (X-A -> HTTP_X_A) would change more than case and hyphens, so that
/// this name could be mistaken for another: it has other than letters, digits and hyphens.
bool folds(std::string_view name);

/// Removes names that fold (see folds) like another field present or like a protected name:
/// "X_Forwarded_For", "content_length" (CVE-2015-0219). For a CGI-like handler, which must drop
/// every name that folds, see drop_folding_names.
void drop_folding_twins(Headers& fields);
void drop_folding_names(Headers& fields);

}  // namespace portico::http
