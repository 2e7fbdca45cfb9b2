// Where a request goes: form, host, path and query out of the target and the Host field.
//
// Pure; any thread. Two steps, because the site's path rules are known only when the host is:
// the reader calls locate() for every head (form, host, port, raw_path, query), the router calls
// canonicalise() with its site's rules (path). parse_target() does both.
#pragma once

#include <string_view>

#include "proxy/core/result.h"
#include "proxy/http/authority.h"
#include "proxy/http/head.h"
#include "proxy/http/path.h"

namespace portico::http {

/// Fills head.where except its path, from head.method, head.target and the Host field; head.fields
/// then has exactly one Host (none for an HTTP/1.0 request without), that of the target where the
/// target names one.
///
/// Errors   bad_host: Host missing (HTTP/1.1), repeated, or not canonical_host()'s; bad_target: a
///          form that is none, a foreign scheme, non-URI bytes; method_refused: CONNECT
/// Source   RFC 9112 §3.2, §3.2.2 (an absolute target's authority wins), §3.2.4 ("*" for OPTIONS
///          alone). In a query "|", "{", "}", "^" and "`" pass: browsers send them bare.
core::Result<void> locate(RequestHead& head);

/// Fills where.path from where.raw_path. Errors: bad_target as of canonical_path.
core::Result<void> canonicalise(Target& where, const PathRules& rules);

/// Both steps at once, without a head. Views of the result are into `target`.
///
/// host  the one Host field's value; null where the request has none
core::Result<Target> parse_target(std::string_view method, std::string_view target,
                                  const std::string_view* host, const PathRules& rules);

}  // namespace portico::http
