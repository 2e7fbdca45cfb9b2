// Which methods are let through. Pure; any thread.
#pragma once

#include <string_view>

namespace portico::route {

/// Whether the method stands in the IANA HTTP Method Registry (2025-01; case counts: "get" is
/// none), CONNECT and TRACE among them.
bool registered_method(std::string_view method);

/// Methods that are refused whatever a site says: TRACE (tells credentials back) and CONNECT (makes
/// an open relay). RFC 9110 §9.3.6, §9.3.8.
bool forbidden_method(std::string_view method);

}  // namespace portico::route
