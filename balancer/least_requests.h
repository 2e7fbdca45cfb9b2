// LeastRequests: the endpoint with the fewest requests in flight for its weight.
//
// Ties, which are the rule under light load, are rotated by smooth weighted round robin: without
// that the first endpoint would get everything as long as it is fast.
#pragma once

#include <vector>

#include "balancer/policy.h"
#include "balancer/round_robin.h"

namespace portico::balancer {

class LeastRequests final : public Policy {
 public:
  explicit LeastRequests(std::size_t members) : rotation_(members) {}
  std::size_t choose(std::span<const Option> options, std::uint64_t key) override;

 private:
  RoundRobin rotation_;
  std::vector<Option> tied_;         // scratch, kept for its room
  std::vector<std::size_t> places_;  // of the tied in `options`
};

}  // namespace portico::balancer
