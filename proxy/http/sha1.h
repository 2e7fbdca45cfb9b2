// SHA-1 (RFC 3174), for the accept value of WebSocket alone: it protects nothing. Pure; any thread.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace portico::http {

/// The digest, 20 bytes.
std::array<std::uint8_t, 20> sha1(std::string_view message);

}  // namespace portico::http
