// LivePool: a pool at work: its configuration, its endpoints, who chooses, and who has to wait.
//
// Made by Pools, shared by the front threads (house rule 10), held by the snapshots that name it.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "balancer/pool.h"
#include "conf/config.h"
#include "proxy/core/admission.h"
#include "proxy/core/loop.h"
#include "proxy/route/live_endpoint.h"

namespace portico::route {

class LivePool {
 public:
  /// endpoints  of pool.endpoints, in its order
  LivePool(const conf::Pool& pool, std::vector<std::shared_ptr<LiveEndpoint>> endpoints);

  const conf::Pool& written() const { return written_; }
  balancer::Pool& balancer() { return balancer_; }
  std::size_t size() const { return endpoints_.size(); }
  const std::shared_ptr<LiveEndpoint>& endpoint(std::size_t member) const {
    return endpoints_[member];
  }

  /// Whether requests at a time are limited: then each needs a ticket of admission().
  bool capped() const { return written_.connections != 0; }
  /// The queue of requests: for a slot where the pool is capped, for an endpoint to come back where
  /// none is usable. Slots: the cap for each usable endpoint; without a cap, any number or none.
  core::Admission& admission() { return admission_; }
  /// Counts the usable endpoints and admits those that wait accordingly. To be called when some
  /// endpoint's state may have changed. Returns how many are usable.
  std::size_t recount(core::Time now);

  /// What a client that found no endpoint is told to wait: the probe interval in whole seconds.
  std::chrono::seconds retry_after() const;

 private:
  const conf::Pool written_;
  std::vector<std::shared_ptr<LiveEndpoint>> endpoints_;
  balancer::Pool balancer_;
  core::Admission admission_;
  std::mutex recount_mutex_;  // so that the latest count has the last word
};

}  // namespace portico::route
