// Pools: the pools of endpoints with what is known of them, kept from one snapshot to the next.
//
// Owned by the front, longer alive than any snapshot. A snapshot asks for its pools when it is
// compiled (any one thread) and holds them; front threads then share them (house rule 10). An
// endpoint's state is kept by pool name and address as long as a snapshot has such an endpoint.
// Kept connections are a thread's own, under Loop::index().
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "conf/config.h"
#include "proxy/core/loop.h"

namespace portico::client {
class Connections;
class Dialer;
}  // namespace portico::client

namespace portico::route {

class LiveEndpoint;
class LivePool;

class Pools {
 public:
  /// threads  how many front threads there are; their loops have the indices 0 to threads - 1
  explicit Pools(unsigned threads);
  /// dialer  opens connections; for tests. It must outlive the Pools.
  Pools(unsigned threads, client::Dialer& dialer);
  Pools(const Pools&) = delete;
  Pools& operator=(const Pools&) = delete;
  ~Pools();

  /// The pool as configured: the same object as long as somebody holds one of an equal
  /// configuration, else a new one whose endpoints carry on with the state of their predecessors.
  std::shared_ptr<LivePool> open(const conf::Pool& pool);
  /// All pools that somebody holds.
  std::vector<std::shared_ptr<LivePool>> all() const;

  /// Kept connections of the loop's thread; made at the first call. Only from that thread.
  client::Connections& connections(core::Loop& loop);
  /// Closes what a thread has kept. Called by that thread when its loop has stopped for good and
  /// its sessions are gone.
  void end_thread(core::Loop& loop);

  /// The prober of the front: it is woken when pools have come. Null: there is none any more. Only
  /// from the thread of the prober's loop.
  void tell(core::Active* prober);
  client::Dialer& dialer() const { return dialer_; }

 private:
  struct Bell;  // the prober, as letters to its loop know it

  std::shared_ptr<LiveEndpoint> endpoint(const std::string& pool, const conf::Address& address);

  std::unique_ptr<client::Dialer> own_dialer_;
  client::Dialer& dialer_;
  std::vector<std::unique_ptr<client::Connections>> connections_;  // by Loop::index()
  mutable std::mutex mutex_;
  std::map<std::string, std::weak_ptr<LivePool>> pools_;          // by name
  std::map<std::string, std::weak_ptr<LiveEndpoint>> endpoints_;  // by pool name and address
  std::shared_ptr<Bell> bell_;
};

}  // namespace portico::route
