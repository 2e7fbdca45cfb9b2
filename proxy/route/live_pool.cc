#include "proxy/route/live_pool.h"

#include <limits>
#include <utility>

namespace portico::route {
namespace {

std::vector<std::shared_ptr<balancer::Endpoint>> states(
    const std::vector<std::shared_ptr<LiveEndpoint>>& endpoints) {
  std::vector<std::shared_ptr<balancer::Endpoint>> states;
  states.reserve(endpoints.size());
  for (const auto& endpoint : endpoints) states.emplace_back(endpoint, &endpoint->state());
  return states;
}

std::size_t slots(const conf::Pool& pool, std::size_t usable) {
  constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();
  if (usable == 0) return 0;
  if (pool.connections == 0) return unlimited;
  return pool.connections > unlimited / usable ? unlimited : pool.connections * usable;
}

}  // namespace

LivePool::LivePool(const conf::Pool& pool, std::vector<std::shared_ptr<LiveEndpoint>> endpoints)
    : written_(pool),
      endpoints_(std::move(endpoints)),
      balancer_(pool, states(endpoints_)),
      admission_(slots(pool, endpoints_.size()), pool.queue) {}

std::size_t LivePool::recount(core::Time now) {
  const std::lock_guard lock(recount_mutex_);
  const std::size_t usable = balancer_.usable(now);
  admission_.resize(slots(written_, usable));
  return usable;
}

std::chrono::seconds LivePool::retry_after() const {
  const conf::Health health = written_.health.value_or(conf::Health{});
  return std::chrono::ceil<std::chrono::seconds>(health.interval);
}

}  // namespace portico::route
