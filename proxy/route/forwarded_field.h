// The Forwarded field, read (RFC 7239 §4). Pure; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace portico::route {

/// What one proxy told of the request it received; empty where it did not tell.
struct ForwardedElement {
  std::string from;   ///< for=
  std::string proto;  ///< as it came
  std::string host;
};

/// The elements of a Forwarded value, the last one added by the nearest proxy. Quoted strings are
/// unquoted. Nothing where any part of it is malformed, repeated or unfinished: half a chain must
/// not be believed.
std::optional<std::vector<ForwardedElement>> parse_forwarded(std::string_view value);

}  // namespace portico::route
