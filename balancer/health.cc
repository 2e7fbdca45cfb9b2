#include "balancer/health.h"

namespace portico::balancer {

std::string_view name(Condition condition) {
  switch (condition) {
    case Condition::probing:
      return "probing";
    case Condition::up:
      return "up";
    case Condition::down:
      return "down";
  }
  return "";
}

Condition Health::report(Probed result, const Thresholds& thresholds) {
  const Condition told = result == Probed::well ? Condition::up : Condition::down;
  if (condition_ == told) {
    against_ = 0;
    return condition_;
  }
  const unsigned needed = told == Condition::up ? thresholds.rise : thresholds.fall;
  if (condition_ == Condition::probing || ++against_ >= needed) {
    condition_ = told;
    against_ = 0;
  }
  return condition_;
}

}  // namespace portico::balancer
