// Server: accepts clients on any number of listening sockets and owns their sessions.
//
// One per front thread, owned by it; the control socket is served by another one of the same kind.
// Everything here but the counters belongs to that thread. Tests adopt memory transports instead of
// listening.
#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "proxy/core/fd.h"
#include "proxy/core/list.h"
#include "proxy/core/loop.h"
#include "proxy/core/timer.h"
#include "proxy/net/transport.h"
#include "proxy/serve/connection_counts.h"
#include "proxy/serve/root.h"
#include "proxy/serve/session.h"

namespace portico::serve {

class Listener;

/// A number that its server's thread changes and any thread reads: no locked instruction.
class Count {
 public:
  void add(std::int64_t more) {
    value_.store(load() + static_cast<std::uint64_t>(more), std::memory_order_relaxed);
  }
  std::uint64_t load() const { return value_.load(std::memory_order_relaxed); }
  operator std::uint64_t() const { return load(); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

/// What status and metrics tell.
struct ServerCounters {
  Count open;       ///< connections now
  Count idle;       ///< of these, between two requests
  Count exchanges;  ///< running now
  Count accepted;   ///< connections since the start
  Count served;     ///< exchanges that have ended
  Count refused;    ///< connections answered 503 because of a cap
  Count pauses;     ///< times that descriptors had run out
};

class Server final : public core::Active {
 public:
  /// counts  shared by all servers that share the caps
  Server(core::Loop& loop, std::shared_ptr<const Root> root,
         std::shared_ptr<ConnectionCounts> counts);
  ~Server() override;  ///< ends every session at once

  /// Accepts from a bound, listening, non-blocking socket. `name` is the address as it stands in
  /// the configuration; sessions tell it as Connection::listener.
  void listen(core::Fd listening, std::string_view name);
  void close_listener(std::string_view name);
  void close_listeners();

  /// Exchanges that begin from now on are served with this; those under way keep theirs.
  void serve_with(std::shared_ptr<const Root> root);
  const std::shared_ptr<const Root>& root() const { return root_; }

  /// Stops accepting, closes idle connections, answers what runs with `Connection: close`; at the
  /// deadline cuts what is left. `owner` is woken when drained() has become true.
  void drain(core::Time deadline, core::Active& owner);
  bool draining() const { return draining_; }
  bool drained() const { return draining_ && sessions_.empty(); }

  /// A session over a transport that is connected already.
  void adopt(std::unique_ptr<net::Transport> transport, Connection connection);

  const ServerCounters& counters() const { return counters_; }

  void advance() override;  ///< the drain's deadline

  // For sessions.
  void now_idle(Session& session);  ///< between two requests: may be closed when it is crowded
  void now_busy(Session& session);  ///< a request has begun
  /// A session's bytes that wait for a client that does not read.
  void hold(std::uint64_t now, std::uint64_t before) { held_ += now - before; }
  bool holds_much() const { return held_ > held_budget; }  ///< answers go in small steps
  void exchange_began();
  void exchange_ended();
  void ended(Session& session);  ///< leaves the server and is destroyed after this turn
  std::string_view date();       ///< the value of Date, made once a second

 private:
  friend class Listener;
  void accept_client(core::Fd fd, const net::Address& client, const Listener& listener);
  ConnectionCounts::Counting counting(const Connection& connection) const;
  void open(std::unique_ptr<net::Transport> transport, Connection connection,
            ConnectionCounts::Counting counting);
  void close_longest_idle();
  void refuse(const core::Fd& fd);
  void refuse_with_reserve(int listening);
  void forget(Session& session);
  void retire_listener(std::list<std::unique_ptr<Listener>>::iterator at);

  // With so many bytes waiting, each further slow client may hold only a little.
  static constexpr std::uint64_t held_budget = 8u << 20;

  std::shared_ptr<const Root> root_;
  std::shared_ptr<ConnectionCounts> counts_;
  core::List<Session, OpenSession> sessions_;  // owned: created by adopt, retired by ended
  core::List<Session, IdleSession> idle_;
  std::list<std::unique_ptr<Listener>> listeners_;
  std::set<std::string, std::less<>> names_;  // of listeners, also of closed ones
  core::Fd reserve_;                          // given up to answer when descriptors have run out
  core::Timer deadline_;
  core::Wakeup drain_owner_;
  std::uint64_t held_ = 0;
  bool draining_ = false;
  std::int64_t date_second_ = -1;
  std::string date_;
  ServerCounters counters_;
};

}  // namespace portico::serve
