// How a message's body is delimited, and whether its connection stays. Pure; any thread.
//
// Request smuggling is two parties that answer these questions differently: so there is one answer
// or none (RFC 9112 §6, §11.2; house rule 8).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "proxy/core/result.h"
#include "proxy/http/head.h"

namespace portico::http {

/// Decides how a request's body is delimited; for every method alike.
///
/// fields   the request's fields, names lower-case
/// Returns  the framing: none, length (0 too, where it was told) or chunked
/// Errors   bad_framing when fields disagree, repeat or are not exact; unsupported_coding when a
///          coding other than chunked is asked for properly; the caller must close
/// Source   RFC 9112 §6.1-6.3; stricter: both fields together, equal lengths twice, and
///          Transfer-Encoding in HTTP/1.0 are refused
core::Result<Framing> request_framing(const Headers& fields, Version version);

/// Decides how a response's body is delimited.
///
/// method   of the request that it answers
/// Returns  the framing; Kind::none where there is no body whatever the fields say
/// Errors   bad_response, also for doubtful fields of a response that has no body
/// Source   RFC 9112 §6.3; as strict as request_framing
core::Result<Framing> response_framing(std::string_view method, int status, const Headers& fields,
                                       Version version);

/// The length that Content-Length tells, nothing where the field is missing.
/// Errors   bad_framing when it is repeated or not 1*DIGIT within 63 bits
core::Result<std::optional<std::uint64_t>> told_length(const Headers& fields);

/// Whether the sender keeps the connection open after this message (RFC 9112 §9.3).
bool keeps_alive(const Headers& fields, Version version);

}  // namespace portico::http
