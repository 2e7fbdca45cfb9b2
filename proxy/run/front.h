// Front: the process that faces clients. Speaks with the supervisor, gives up its privileges,
// builds the snapshot and keeps the front threads.
//
// Started by the supervisor (front_process.h) as "portico front" with its end of the channel as
// descriptor 3. Its main thread serves nobody; it hears the supervisor. The supervisor's end is its
// end. Design §1 and §8; messages: front_message.h.
#pragma once

#include "proxy/run/parts.h"

namespace portico::run {

/// The number that the channel to the supervisor has in the front.
inline constexpr int front_channel_fd = 3;

/// What the supervisor puts into GLIBC_TUNABLES of the front, which is the front's alone.
inline constexpr const char* front_tunables = "glibc.malloc.tcache_count=256";

/// The whole life of a front. Returns the exit status: 0 after a drain.
int front_main(const Parts& parts);

}  // namespace portico::run
