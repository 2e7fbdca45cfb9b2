#include "proxy/route/probe.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "proxy/client/connections.h"
#include "proxy/net/resolver.h"
#include "proxy/route/live_pool.h"
#include "proxy/route/pool_watch.h"
#include "proxy/route/pools.h"

namespace portico::route {

// Woken when pools have come; those that have gone are noticed then, too.
class Prober::Rounds final : public core::Active, public PoolWatch::Resolvers {
 public:
  Rounds(core::Loop& loop, Pools& pools) : Active(loop), pools_(pools), connections_(loop, 0) {
    pools_.tell(this);
    wake();
  }
  ~Rounds() override { pools_.tell(nullptr); }

  void advance() override {
    std::erase_if(watches_, [](const auto& watch) { return watch->over(); });
    for (const auto& pool : pools_.all()) {
      const bool watched =
          std::any_of(watches_.begin(), watches_.end(),
                      [&pool](const auto& watch) { return watch->watches(*pool); });
      if (!watched)
        watches_.push_back(std::make_unique<PoolWatch>(connections_, pools_.dialer(), *this, pool));
    }
  }

 private:
  net::Resolver& resolver() override {
    if (!resolver_) resolver_ = std::make_unique<net::Resolver>(loop());
    return *resolver_;
  }

  Pools& pools_;
  std::unique_ptr<net::Resolver> resolver_;
  client::Connections connections_;  // keeps none: each probe connects anew
  std::vector<std::unique_ptr<PoolWatch>> watches_;
};

Prober::Prober(core::Loop& loop, Pools& pools) : rounds_(std::make_unique<Rounds>(loop, pools)) {}

Prober::~Prober() = default;

}  // namespace portico::route
