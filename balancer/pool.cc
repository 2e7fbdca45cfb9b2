#include "balancer/pool.h"

#include <algorithm>
#include <limits>

namespace portico::balancer {
namespace {

unsigned narrowed(std::uint64_t cap) {
  return static_cast<unsigned>(std::min<std::uint64_t>(cap, std::numeric_limits<unsigned>::max()));
}

}  // namespace

Lease Candidates::next(Time now) {
  Lease lease = pool_.choose(*this, now);
  if (!lease) return lease;
  if (first_ == none)
    first_ = lease.member();
  else
    others_.push_back(lease.member());
  return lease;
}

void Candidates::restart() {
  first_ = none;
  others_.clear();
}

bool Candidates::given(std::size_t member) const {
  return member == first_ || std::find(others_.begin(), others_.end(), member) != others_.end();
}

Pool::Pool(const conf::Pool& pool, std::vector<std::shared_ptr<Endpoint>> endpoints)
    : cap_(narrowed(pool.connections)), policy_(make_policy(pool.policy, endpoints.size())) {
  for (std::size_t i = 0; i < endpoints.size(); ++i)
    members_.push_back({std::move(endpoints[i]), pool.endpoints[i].weight});
  const conf::Health health = pool.health.value_or(conf::Health{});
  thresholds_ = {health.rise, health.fall};
  outlier_rule_ = {health.fall, health.interval};
}

Lease Pool::choose(const Candidates& candidates, Time now) {
  const std::lock_guard lock(mutex_);
  gather(candidates, now);
  if (options_.empty()) return {};
  prefer_room();
  const std::size_t member = options_[policy_->choose(options_, candidates.key_)].member;
  return Lease(*members_[member].endpoint, member);
}

void Pool::gather(const Candidates& candidates, Time now) {
  options_.clear();
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const Member& member = members_[i];
    if (member.endpoint->usable(now) && !candidates.given(i))
      options_.push_back({i, member.weight, member.endpoint->in_flight()});
  }
}

// Whoever asks holds one of (cap * usable endpoints) tickets, so that nearly always one has room;
// right after an endpoint was lost the tickets given out before may be too many, and then the cap
// gives way for a moment rather than the request.
void Pool::prefer_room() {
  if (cap_ == 0) return;
  const auto full = [this](const Option& option) { return option.in_flight >= cap_; };
  if (!std::all_of(options_.begin(), options_.end(), full)) std::erase_if(options_, full);
}

std::size_t Pool::usable(Time now) const {
  return static_cast<std::size_t>(
      std::count_if(members_.begin(), members_.end(),
                    [now](const Member& member) { return member.endpoint->usable(now); }));
}

Time Pool::next_return(Time now) const {
  Time first = Time::max();
  for (const Member& member : members_)
    if (member.endpoint->outage(now) == Outage::failures)
      first = std::min(first, member.endpoint->back_at());
  return first;
}

}  // namespace portico::balancer
