// How large the head of a message may be. A value; any thread.
#pragma once

#include <cstdint>

namespace portico::http {

/// Defaults as in conf/config.h.
struct ReadLimits {
  std::uint32_t header_bytes = 32 * 1024;  ///< of a head, start line and last CRLF included
  std::uint32_t target_bytes = 8 * 1024;   ///< of a request's target
  std::uint32_t header_fields = 100;       ///< in number
};

}  // namespace portico::http
