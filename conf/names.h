// Names as operators write them: hosts, route paths, pools, WSGI references, users.
//
// Pure functions; any thread. The canonical forms made here are those that the router compares
// with. Documented in portico.yaml(5), "Values".
#pragma once

#include <string>
#include <string_view>

#include "conf/outcome.h"

namespace portico::conf {

/// A host as a site's key or alias: lower-case, one last dot taken off. An IP address (IPv6 in
/// brackets) is a host too. "*.shop.example" is a wildcard of one or more labels.
/// Source RFC 9110 §4.2.3, RFC 1123 §2.1; names beyond ASCII are written in punycode.
Outcome<std::string> parse_host(std::string_view text);

/// A route's path in the one form that requests are brought to: "%41" is "A", other escapes in
/// upper case, bytes beyond ASCII escaped. Dots, doubled slashes and escaped slashes are refused.
/// Source RFC 3986 §3.3, §6.2.2.
Outcome<std::string> parse_route_path(std::string_view text);

/// A pool's name: a letter, then letters, digits, "-", "_" and "."; no ":" and no "/", which make
/// an address.
Outcome<std::string> parse_pool_name(std::string_view text);

/// "package.module", "module:callable", "module:factory()", "file.py", "file.py:callable".
Outcome<std::string> parse_reference(std::string_view text);

/// A module that Python's `import` takes: identifiers with dots between, at most 200 bytes.
Outcome<std::string> parse_module(std::string_view text);

/// A user of the system by name (useradd(8): lower-case, digits, "-", "_", at most 32 bytes).
Outcome<std::string> parse_user(std::string_view text);

/// An environment variable's name (POSIX.1 §8.1, lower case allowed).
Outcome<std::string> parse_variable(std::string_view text);

}  // namespace portico::conf
