// The path of a request in one canonical form: what routing, rules and forwarding all see.
//
// Pure; any thread. Nothing is ever decoded twice (RFC 3986 §5.2.4, §6.2.2; RFC 9110 §17.3).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "proxy/core/result.h"

namespace portico::http {

/// A site's rules (conf: merge_slashes, unsafe_encoded_slashes).
struct PathRules {
  bool merge_slashes = true;           ///< "//" is "/"
  bool allow_encoded_slashes = false;  ///< %2F and %5C pass, undecoded
};

/// Canonicalises an absolute path without query.
///
/// Returns  escapes of unreserved characters decoded, all others with upper-case digits; "." and
///          ".." resolved (never above "/"); doubled slashes merged where the rules say so
/// Errors   bad_target: not beginning with "/"; a byte that is no URI path character ("\", "#",
///          controls, 0x80 and above ...); an invalid escape; %00; %2F and %5C unless allowed;
///          a dot segment with parameters ("..;"), which some servers resolve
core::Result<std::string> canonical_path(std::string_view raw, const PathRules& rules);

/// Decodes every escape, once; nothing where one is invalid. The result may hold any byte: it is
/// for PATH_INFO and file names, never for a field or a target.
std::optional<std::string> percent_decode(std::string_view text);

}  // namespace portico::http
