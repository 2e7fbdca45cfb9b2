// The Keep-Alive field of a response: how long the endpoint keeps an idle connection. Pure.
#pragma once

#include <optional>

#include "proxy/core/loop.h"
#include "proxy/http/head.h"

namespace portico::client {

/// The timeout parameter of "Keep-Alive: timeout=5, max=100", up to a day; nothing where there is
/// none that can be understood.
/// Source  RFC 2068 §19.7.1.1 as servers use it
std::optional<core::Duration> told_idle_limit(const http::Headers& fields);

}  // namespace portico::client
