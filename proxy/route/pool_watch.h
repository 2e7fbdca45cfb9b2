// PoolWatch: what the prober does for one pool: it paces the probes, resolves names, and recounts.
//
// Owned by the Prober, run by the loop of front thread 0. A tick each second (or each interval, if
// that is shorter) probes what is due; while no endpoint of the pool is usable everything is due at
// each tick, since requests may be waiting. It also notices that a passive mark has run out, which
// no event tells.
#pragma once

#include <memory>
#include <vector>

#include "proxy/core/timer.h"
#include "proxy/net/resolved_name.h"
#include "proxy/route/endpoint_probe.h"
#include "proxy/route/live_pool.h"

namespace portico::route {

class PoolWatch final : public core::Active {
 public:
  /// Gives the resolver of this thread, made when it is first needed.
  class Resolvers {
   public:
    virtual net::Resolver& resolver() = 0;

   protected:
    ~Resolvers() = default;
  };

  PoolWatch(client::Connections& connections, client::Dialer& dialer, Resolvers& resolvers,
            const std::shared_ptr<LivePool>& pool);

  bool watches(const LivePool& pool) const { return pool_.lock().get() == &pool; }
  bool over() const { return pool_.expired(); }  ///< nobody holds the pool any more
  void advance() override;

 private:
  struct Name {
    std::shared_ptr<LiveEndpoint> endpoint;
    std::unique_ptr<net::ResolvedName> name;
    bool told = false;  // that it does not resolve
  };
  void publish(const LivePool& pool, Name& one);

  std::weak_ptr<LivePool> pool_;
  core::Duration tick_;
  core::Timer timer_;
  std::vector<std::unique_ptr<EndpointProbe>> probes_;  // none after `health: off`
  std::vector<Name> names_;
};

}  // namespace portico::route
