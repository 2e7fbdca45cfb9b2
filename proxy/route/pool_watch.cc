#include "proxy/route/pool_watch.h"

#include <algorithm>
#include <utility>

#include "proxy/core/log.h"

namespace portico::route {

PoolWatch::PoolWatch(client::Connections& connections, client::Dialer& dialer, Resolvers& resolvers,
                     const std::shared_ptr<LivePool>& pool)
    : core::Active(connections.loop()), pool_(pool), timer_(*this) {
  const auto& health = pool->written().health;
  tick_ =
      std::min<core::Duration>(std::chrono::seconds(1), health.value_or(conf::Health{}).interval);
  for (std::size_t member = 0; member < pool->size(); ++member) {
    const auto& endpoint = pool->endpoint(member);
    if (health)
      probes_.push_back(std::make_unique<EndpointProbe>(connections, dialer, pool, member));
    if (!endpoint->named()) continue;
    const conf::Address& written = endpoint->written();
    names_.push_back({endpoint,
                      std::make_unique<net::ResolvedName>(resolvers.resolver(), *this, written.host,
                                                          written.port),
                      false});
  }
  wake();
}

// Woken by the tick, and by names that have news.
void PoolWatch::advance() {
  const auto pool = pool_.lock();
  if (!pool) return;
  for (Name& one : names_) publish(*pool, one);
  const bool none_usable = pool->recount(loop().now()) == 0;
  using Urgency = EndpointProbe::Urgency;
  for (auto& probe : probes_) probe->consider(none_usable ? Urgency::now : Urgency::when_due);
  if (timer_.due() || !timer_.is_set()) timer_.set_after(tick_);
}

void PoolWatch::publish(const LivePool& pool, Name& one) {
  const net::ResolvedName& name = *one.name;
  if (name.known()) {
    one.told = false;
    if (*one.endpoint->addresses() != name.addresses()) one.endpoint->resolved(name.addresses());
  } else if (name.stale() && !std::exchange(one.told, true)) {
    core::log(core::Level::warning, "pool " + pool.written().name + ": endpoint " +
                                        one.endpoint->state().name() + " is down (" +
                                        core::describe(name.error()) + ")");
  }
}

}  // namespace portico::route
