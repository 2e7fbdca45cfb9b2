#include "balancer/endpoint.h"

namespace portico::balancer {

std::string_view name(Outage outage) {
  switch (outage) {
    case Outage::none:
      return "none";
    case Outage::name:
      return "DNS";
    case Outage::probes:
      return "probes";
    case Outage::failures:
      return "failures";
  }
  return "";
}

Outage Endpoint::outage(Time now) const {
  if (!resolvable_.load(std::memory_order_relaxed)) return Outage::name;
  if (condition() == Condition::down) return Outage::probes;
  return outlier_.out(now) ? Outage::failures : Outage::none;
}

bool Endpoint::probed(Probed result, const Thresholds& thresholds) {
  const Condition before = health_.condition();
  const Condition after = health_.report(result, thresholds);
  condition_.store(after, std::memory_order_relaxed);
  const bool was_marked = outlier_.back_at() != Time();
  if (result == Probed::well) outlier_.forgive();
  return before != after || (was_marked && result == Probed::well);
}

}  // namespace portico::balancer
