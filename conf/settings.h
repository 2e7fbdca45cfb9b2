// Reads the settings that stand at the top and again in sites and routes, and those of the server.
//
// Each function writes over what it is given, so that what is not written stays inherited. Called
// by load() only; its thread.
#pragma once

#include "conf/config.h"
#include "conf/reader.h"

namespace portico::conf {

/// Everything at the top but sites and pools.
void read_server(Reader& reader, const Mapping& top, Config& config);

/// `timeouts:`, `limits:` and `request:` of a site or route.
void read_route_settings(Reader& reader, const Mapping& owner, Route& into);

/// `log:` of a site.
void read_log(Reader& reader, const Mapping& owner, Log& into);

/// The mapping under `health:`.
void read_health(Reader& reader, const Node& node, Health& into);

/// A target of our own requests: a path with an optional query, nothing that needs escaping.
Outcome<std::string> parse_probe_target(const std::string& text);

}  // namespace portico::conf
