// The field lines of a head or a trailer section (RFC 9112 §5). Pure; any thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "proxy/core/result.h"
#include "proxy/http/head.h"

namespace portico::http {

/// Takes lines up to and including the empty one, which must be there; every LF must stand behind a
/// CR (see HeadGatherer). Names are lower-cased in place and, as values without outer blanks, added
/// as views: whoever owns the bytes lets `fields` keep them.
///
/// section     from the first line to behind the empty one
/// most        fields that there may be
/// Returns     Fault::none; bad_field: a name that is no token, blanks before the colon, folding,
///             a control character in a value; head_too_large: too many
core::Fault parse_field_lines(char* section, std::size_t size, std::uint32_t most, Headers& fields);

}  // namespace portico::http
