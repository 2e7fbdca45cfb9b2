// ConnectionCounts: how many client connections the front has, in all and from each client.
//
// One of the counters that the front threads share: a mutex, touched when a connection opens and
// when it closes. Connection hoarding is refused here (per client and in all), and `crowded` tells
// when idle connections are to give way.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <unordered_map>

#include "proxy/net/address.h"

namespace portico::serve {

struct ConnectionLimits {
  std::size_t total = 0;  ///< 0: derived from the limit of open files
  std::size_t per_client = 16384;
  std::size_t per_user = 0;  ///< over Unix sockets; 0: users are not told apart
};

/// The cap that the limit of open files (RLIMIT_NOFILE) leaves for client connections: each may
/// need a second descriptor for its endpoint; a margin stays for logs, listeners, pipes and files.
std::size_t connections_for_open_files(std::size_t open_files);
std::size_t connections_for_open_files();  ///< of this process as it is now

class ConnectionCounts {
 public:
  enum class Counting : std::uint8_t { anonymous, by_client, by_user };
  enum class Verdict : std::uint8_t { admitted, full, client_full };

  /// Counts a connection in, unless a limit is reached. An IPv6 client is its /64.
  /// user  with Counting::by_user: who came over a Unix socket
  Verdict enter(const net::Address& client, Counting counting, const ConnectionLimits& limits,
                uid_t user = 0);
  /// Takes back one that was admitted with the same client, counting and user.
  void leave(const net::Address& client, Counting counting, uid_t user = 0);

  std::size_t total() const;
  /// Above 80 % of the cap: idle connections are closed, least recently used first.
  bool crowded(const ConnectionLimits& limits) const;

 private:
  mutable std::mutex mutex_;
  std::size_t total_ = 0;
  std::unordered_map<std::uint64_t, std::uint32_t> clients_;
};

}  // namespace portico::serve
