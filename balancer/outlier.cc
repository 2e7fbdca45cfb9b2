#include "balancer/outlier.h"

#include <algorithm>

namespace portico::balancer {
namespace {

// Doubling seven times passes any `longest` an interval of a second can have; no overflow beyond.
constexpr unsigned most_doublings = 7;

milliseconds time_out(const OutlierRule& rule, unsigned earlier_marks) {
  const auto doubled = rule.interval * (1 << std::min(earlier_marks, most_doublings));
  return std::clamp<milliseconds>(doubled, rule.interval,
                                  std::max(rule.interval, OutlierRule::longest));
}

}  // namespace

void Outlier::failed(Time now, const OutlierRule& rule) {
  if (out(now) || failures_.fetch_add(1) + 1 < rule.failures) return;
  const Time back = now + time_out(rule, marks_.fetch_add(1));
  back_at_ = back.time_since_epoch().count();
}

void Outlier::succeeded(Time now) {
  // Looking first keeps the cache line shared while all is well, as it nearly always is.
  if (failures_.load(std::memory_order_relaxed) == 0 || out(now)) return;
  failures_ = 0;
  marks_ = 0;
}

void Outlier::forgive() {
  failures_ = 0;
  marks_ = 0;
  back_at_ = 0;
}

Time Outlier::back_at() const { return Time(Time::duration(back_at_.load())); }

}  // namespace portico::balancer
