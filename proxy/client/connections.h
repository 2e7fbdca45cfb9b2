// Connections: the connections of one front thread to endpoints, as far as they lie idle.
//
// One per thread, which alone touches it; outlives every stream of that thread. Last in, first out:
// the connection used last is the least likely to have been closed, and those not needed grow old
// and are closed at the idle limit (the configured one, or a learned one that is shorter).
#pragma once

#include <cstddef>
#include <memory>
#include <unordered_map>
#include <vector>

#include "proxy/client/stream.h"
#include "proxy/core/bytes.h"
#include "proxy/core/loop.h"
#include "proxy/net/transport.h"

namespace portico::client {

class Destination;
class H1Client;

class Connections {
 public:
  /// Idle ones for each endpoint; what is given back beyond that is closed. As many as a load of a
  /// few hundred requests at a time leaves between two bursts.
  static constexpr std::size_t default_cap = 512;

  explicit Connections(core::Loop& loop, std::size_t cap = default_cap);
  Connections(const Connections&) = delete;
  Connections& operator=(const Connections&) = delete;
  ~Connections();

  /// A stream over a kept connection to that endpoint; null: there is none.
  std::unique_ptr<Stream> reuse(const Destination& destination);
  /// A stream over a connection that was just made.
  std::unique_ptr<Stream> open(std::shared_ptr<Destination> destination,
                               std::unique_ptr<net::Transport> transport);

  std::size_t idle(const Destination& destination) const;  ///< how many
  void close_idle();                                       ///< all of them

  core::Loop& loop() const { return loop_; }

  /// For streams and connections: back after a request; closed if it cannot be used again.
  void give_back(std::unique_ptr<H1Client> client);
  void expired(H1Client& client);  ///< an idle one's time is over
  void lost(H1Client& client);     ///< the endpoint closed an idle one, or sent something unasked

 private:
  using Idle = std::vector<std::unique_ptr<H1Client>>;  // the oldest first

  void close(H1Client& client);

  core::Loop& loop_;
  std::size_t cap_;
  // An entry without connections stays until its last one has expired, so that a busy endpoint does
  // not cost an allocation for each request. The key is only compared.
  std::unordered_map<const Destination*, Idle> idle_;
};

}  // namespace portico::client
