#include "proxy/serve/connection_counts.h"

#include <sys/resource.h>

#include <algorithm>
#include <cstring>

namespace portico::serve {
namespace {

// Kept back from client connections: logs, listeners, pipes, spool files and what libraries open.
constexpr std::size_t margin = 128;
constexpr std::size_t fewest_connections = 16;

std::size_t cap(const ConnectionLimits& limits) {
  static const std::size_t derived = connections_for_open_files();
  return limits.total != 0 ? limits.total : derived;
}

// IPv4 addresses stand where IPv6 has its multicast, which no client comes from.
std::uint64_t key_of(const net::Address& client) {
  const std::string_view bytes = client.ip_bytes();
  std::uint64_t key = bytes.size() == 4 ? ~std::uint64_t{0} : 0;
  std::memcpy(&key, bytes.data(), std::min<std::size_t>(bytes.size() == 4 ? 4 : 8, bytes.size()));
  return key;
}

using Counting = ConnectionCounts::Counting;

// A server counts either by address or by user, so that the two kinds of keys do not meet.
std::uint64_t key_of(const net::Address& client, Counting counting, uid_t user) {
  return counting == Counting::by_user ? user : key_of(client);
}

}  // namespace

std::size_t connections_for_open_files(std::size_t open_files) {
  if (open_files < 2 * (margin + fewest_connections)) return fewest_connections;
  return (open_files - margin) / 2;
}

std::size_t connections_for_open_files() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return fewest_connections;
  return connections_for_open_files(limit.rlim_cur);
}

ConnectionCounts::Verdict ConnectionCounts::enter(const net::Address& client, Counting counting,
                                                  const ConnectionLimits& limits, uid_t user) {
  const std::lock_guard lock(mutex_);
  if (total_ >= cap(limits)) return Verdict::full;
  if (counting != Counting::anonymous) {
    const bool by_user = counting == Counting::by_user;
    std::uint32_t& count = clients_[key_of(client, counting, user)];
    if (count >= (by_user ? limits.per_user : limits.per_client)) return Verdict::client_full;
    ++count;
  }
  ++total_;
  return Verdict::admitted;
}

void ConnectionCounts::leave(const net::Address& client, Counting counting, uid_t user) {
  const std::lock_guard lock(mutex_);
  --total_;
  if (counting == Counting::anonymous) return;
  const auto at = clients_.find(key_of(client, counting, user));
  if (--at->second == 0) clients_.erase(at);
}

std::size_t ConnectionCounts::total() const {
  const std::lock_guard lock(mutex_);
  return total_;
}

bool ConnectionCounts::crowded(const ConnectionLimits& limits) const {
  return total() * 5 > cap(limits) * 4;
}

}  // namespace portico::serve
