// The first line of a head: request line and status line (RFC 9112 §3, §4). Pure; any thread.
//
// Lines come without their CRLF. Also judges lines that have not arrived whole, so that what can
// never become HTTP (a TLS handshake, a greeting of another protocol) is answered at once.
#pragma once

#include <string_view>

#include "proxy/core/result.h"
#include "proxy/http/h1_read.h"
#include "proxy/http/head.h"
#include "proxy/http/limits.h"

namespace portico::http {

/// Longer methods than this are refused with 501 (RFC 9112 §3): the longest registered has 17.
inline constexpr std::size_t longest_method = 32;

/// Fills method, target and version: token SP target SP HTTP/1.0-or-1.1, single spaces.
/// Returns  Fault::none, bad_request_line, method_refused, target_too_long or bad_version
core::Fault parse_request_line(std::string_view line, const ReadLimits& limits, RequestHead& head);

/// Whether the begin of a request line may still become one. Same faults.
core::Fault judge_request_line(std::string_view begin);

/// Fills version, status and reason (left empty where it is the standard one).
/// Returns  Fault::none or bad_response
core::Fault parse_status_line(std::string_view line, ReceivedHead& received);

/// Whether the begin of a status line may still become one. Same faults.
core::Fault judge_status_line(std::string_view begin);

}  // namespace portico::http
