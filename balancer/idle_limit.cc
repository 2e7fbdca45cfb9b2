#include "balancer/idle_limit.h"

#include <algorithm>
#include <cstdlib>

namespace portico::balancer {
namespace {

constexpr milliseconds margin = std::chrono::seconds(1);
constexpr milliseconds least_age = std::chrono::seconds(1);

// A second short of the limit; half of it where that is less than two seconds.
milliseconds safely_under(milliseconds limit) { return std::max(limit - margin, limit / 2); }

// Timers of servers are seconds or ticks of some 100 ms: a tenth apart is the same limit.
bool about_equal(milliseconds::rep a, milliseconds::rep b) {
  return std::abs(a - b) <= std::max<milliseconds::rep>(a / 10, 250);
}

}  // namespace

void IdleLimit::told(milliseconds limit, Time now) {
  limit_ = std::max<milliseconds::rep>(limit.count(), 1);
  learned_at_ = now.time_since_epoch().count();
}

void IdleLimit::closed_after(milliseconds age, Time now) {
  if (age < least_age) return;
  const milliseconds::rep before = last_age_.exchange(age.count());
  if (before != 0 && about_equal(before, age.count()))
    told(milliseconds(std::min(before, age.count())), now);
}

milliseconds IdleLimit::within(milliseconds configured, Time now) const {
  const milliseconds limit(limit_.load(std::memory_order_relaxed));
  if (limit.count() == 0) return configured;
  const Time learned{Time::duration(learned_at_.load(std::memory_order_relaxed))};
  if (now - learned > memory) return configured;
  return std::min(configured, safely_under(limit));
}

}  // namespace portico::balancer
