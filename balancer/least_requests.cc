#include "balancer/least_requests.h"

namespace portico::balancer {
namespace {

// a.in_flight / a.weight against b's, without dividing.
std::uint64_t load(const Option& a, const Option& b) {
  return std::uint64_t{a.in_flight} * b.weight;
}
bool lighter(const Option& a, const Option& b) { return load(a, b) < load(b, a); }
bool equal(const Option& a, const Option& b) { return load(a, b) == load(b, a); }

}  // namespace

std::size_t LeastRequests::choose(std::span<const Option> options, std::uint64_t key) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < options.size(); ++i)
    if (lighter(options[i], options[best])) best = i;
  tied_.clear();
  places_.clear();
  for (std::size_t i = 0; i < options.size(); ++i) {
    if (!equal(options[i], options[best])) continue;
    tied_.push_back(options[i]);
    places_.push_back(i);
  }
  return places_[rotation_.choose(tied_, key)];
}

}  // namespace portico::balancer
