#include "balancer/round_robin.h"

namespace portico::balancer {

std::size_t RoundRobin::choose(std::span<const Option> options, std::uint64_t) {
  std::int64_t total = 0;
  std::size_t best = 0;
  for (std::size_t i = 0; i < options.size(); ++i) {
    credit_[options[i].member] += options[i].weight;
    total += options[i].weight;
    if (credit_[options[i].member] > credit_[options[best].member]) best = i;
  }
  credit_[options[best].member] -= total;
  return best;
}

}  // namespace portico::balancer
