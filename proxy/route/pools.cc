#include "proxy/route/pools.h"

#include <utility>

#include "proxy/client/connections.h"
#include "proxy/client/dialer.h"
#include "proxy/route/live_pool.h"

namespace portico::route {
namespace {

// Where a pool is written does not matter: a reload that only moves lines keeps it.
conf::Pool without_places(conf::Pool pool) {
  pool.where = {};
  for (conf::Endpoint& endpoint : pool.endpoints) endpoint.where = {};
  return pool;
}

template <typename Map>
void forget_the_gone(Map& map) {
  std::erase_if(map, [](const auto& entry) { return entry.second.expired(); });
}

}  // namespace

// Letters to the prober's loop hold this; the prober may be gone when they arrive. Its members are
// the prober's thread's own, but for `loop`, which never changes.
struct Pools::Bell {
  explicit Bell(core::Active& one) : loop(one.loop()), prober(&one) {}
  core::Loop& loop;
  core::Active* prober;

  using Letter = std::shared_ptr<Bell>;
  static void ring(const Letter& bell) {
    bell->loop.post(&Bell::arrive, new Letter(bell), &Bell::drop);
  }
  static void arrive(void* letter) {
    const std::unique_ptr<Letter> bell(static_cast<Letter*>(letter));
    if ((*bell)->prober != nullptr) (*bell)->prober->wake();
  }
  static void drop(void* letter) { delete static_cast<Letter*>(letter); }
};

Pools::Pools(unsigned threads)
    : own_dialer_(std::make_unique<client::NetDialer>()),
      dialer_(*own_dialer_),
      connections_(threads) {}

Pools::Pools(unsigned threads, client::Dialer& dialer) : dialer_(dialer), connections_(threads) {}

Pools::~Pools() = default;

std::shared_ptr<LivePool> Pools::open(const conf::Pool& pool) {
  const std::lock_guard lock(mutex_);
  forget_the_gone(pools_);
  forget_the_gone(endpoints_);
  const conf::Pool written = without_places(pool);
  std::weak_ptr<LivePool>& known = pools_[pool.name];
  if (auto live = known.lock(); live != nullptr && live->written() == written) return live;
  std::vector<std::shared_ptr<LiveEndpoint>> endpoints;
  for (const conf::Endpoint& one : written.endpoints)
    endpoints.push_back(endpoint(pool.name, one.address));
  auto live = std::make_shared<LivePool>(written, std::move(endpoints));
  known = live;
  if (bell_) Bell::ring(bell_);
  return live;
}

std::shared_ptr<LiveEndpoint> Pools::endpoint(const std::string& pool,
                                              const conf::Address& address) {
  // A line feed cannot stand in either.
  std::weak_ptr<LiveEndpoint>& known = endpoints_[pool + '\n' + address.text()];
  if (auto live = known.lock()) return live;
  auto live = std::make_shared<LiveEndpoint>(address);
  known = live;
  return live;
}

std::vector<std::shared_ptr<LivePool>> Pools::all() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<LivePool>> pools;
  for (const auto& [name, known] : pools_)
    if (auto live = known.lock()) pools.push_back(std::move(live));
  return pools;
}

client::Connections& Pools::connections(core::Loop& loop) {
  auto& connections = connections_[loop.index()];
  if (!connections) connections = std::make_unique<client::Connections>(loop);
  return *connections;
}

void Pools::end_thread(core::Loop& loop) { connections_[loop.index()].reset(); }

void Pools::tell(core::Active* prober) {
  const std::lock_guard lock(mutex_);
  if (bell_) bell_->prober = nullptr;
  bell_ = prober == nullptr ? nullptr : std::make_shared<Bell>(*prober);
  if (bell_ && !pools_.empty()) Bell::ring(bell_);
}

}  // namespace portico::route
