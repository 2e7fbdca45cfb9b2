// Via: says that a message came through us, and finds one that did before (RFC 9110 §7.6.3).
// Pure; any thread.
#pragma once

#include <string_view>

#include "proxy/http/head.h"

namespace portico::route {

/// Whether a Via field of a request names this instance: then it went in a circle.
bool came_through(const http::Headers& fields, std::string_view instance);

/// Adds "1.1 <instance>" behind what is there; for requests that go on over HTTP.
void add_via(http::RequestHead& head, std::string_view instance);

}  // namespace portico::route
