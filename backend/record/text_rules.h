// What a status, a field name and a field value may look like in an answer: one rule for the
// worker, which tells the application, and for the front, which does not believe the worker. Pure;
// any thread. Source: RFC 9110 §5.1, §5.5.
#pragma once

#include <string_view>

namespace portico::record {

/// A token: one or more of the letters, digits and punctuation of RFC 9110 §5.6.2.
bool is_field_name(std::string_view name);

/// No control characters but tab; bytes from 0x80 on are allowed. No outer blanks.
bool is_field_value(std::string_view value);

/// A reason phrase: as a value, blanks inside allowed; may be empty.
bool is_reason(std::string_view reason);

/// Fields that belong to one connection (or frame the message), which an application may not give,
/// in any case of letters: connection, keep-alive, proxy-authenticate/-authorization/-connection,
/// te, trailer, transfer-encoding, upgrade. PEP 3333, RFC 9110 §7.6.1.
bool is_hop_by_hop(std::string_view name);

/// ASCII comparison without regard to case; `lower` must be lower case.
bool equals_lower(std::string_view text, std::string_view lower);

/// The usual phrase for a status ("Not Found"), or "Unknown".
std::string_view standard_reason(int status);

}  // namespace portico::record
