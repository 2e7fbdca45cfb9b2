// Pool: endpoints that serve the same thing; says which of them a request goes to, and which next.
//
// Shared by the front threads. The policy's state stands under one small mutex instead of once per
// thread: choosing takes some 50 ns and no system call, the order is exact across threads, and two
// threads cannot give the last free place of an endpoint away twice.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "balancer/endpoint.h"
#include "balancer/outlier.h"
#include "balancer/policy.h"
#include "balancer/retry.h"
#include "conf/config.h"

namespace portico::balancer {

class Pool;

/// The candidates of one request, best first, found out one by one so that each is chosen by what
/// is known when it is needed. The pool must live longer.
class Candidates {
 public:
  Candidates(Pool& pool, std::uint64_t key) : pool_(pool), key_(key) {}
  /// The next endpoint that is usable and has not been given yet; an empty lease: there is none.
  Lease next(Time now);
  void restart();  ///< all count as not given: a new round

 private:
  friend class Pool;
  bool given(std::size_t member) const;

  Pool& pool_;
  std::uint64_t key_;
  static constexpr std::size_t none = static_cast<std::size_t>(-1);
  std::size_t first_ = none;         // the first member given: for most requests the only one
  std::vector<std::size_t> others_;  // those given after it
};

class Pool {
 public:
  /// endpoints  the state of each of pool.endpoints, in its order
  Pool(const conf::Pool& pool, std::vector<std::shared_ptr<Endpoint>> endpoints);

  /// key  what policies by hash go by
  Candidates candidates(std::uint64_t key) { return Candidates(*this, key); }

  std::size_t size() const { return members_.size(); }
  Endpoint& endpoint(std::size_t member) const { return *members_[member].endpoint; }
  std::size_t usable(Time now) const;  ///< how many
  /// When the first of those that are out by failures is tried again; Time::max(): none is.
  Time next_return(Time now) const;

  const Thresholds& thresholds() const { return thresholds_; }
  const OutlierRule& outlier_rule() const { return outlier_rule_; }
  RetryBudget& retry_budget() { return retry_budget_; }

 private:
  friend class Candidates;
  struct Member {
    std::shared_ptr<Endpoint> endpoint;
    unsigned weight;
  };
  Lease choose(const Candidates& candidates, Time now);
  void gather(const Candidates& candidates, Time now);  // into options_
  void prefer_room();

  std::vector<Member> members_;
  unsigned cap_;  // requests at a time per endpoint; 0: no cap
  Thresholds thresholds_;
  OutlierRule outlier_rule_;
  RetryBudget retry_budget_;

  std::mutex mutex_;  // of what follows
  std::unique_ptr<Policy> policy_;
  std::vector<Option> options_;  // scratch, kept for its room
};

}  // namespace portico::balancer
