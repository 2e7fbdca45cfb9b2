// RoundRobin: smooth weighted round robin. Weights 5, 1, 1 give a a b a c a a, not a a a a a b c.
//
// Each choice adds to every option its weight; the one with the most is chosen and pays the sum of
// the weights. An endpoint that was away comes back with what it had, at most one round's worth.
#pragma once

#include <vector>

#include "balancer/policy.h"

namespace portico::balancer {

class RoundRobin final : public Policy {
 public:
  explicit RoundRobin(std::size_t members) : credit_(members, 0) {}
  std::size_t choose(std::span<const Option> options, std::uint64_t key) override;

 private:
  std::vector<std::int64_t> credit_;  // by member
};

}  // namespace portico::balancer
