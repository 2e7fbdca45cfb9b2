// Health: the machine that turns results of active probes into a condition, by rise and fall.
//
// A value; owned by whoever keeps count, one thread. Rule: a new member is `probing` and usable
// (optimistic: a front that starts must not refuse what nobody has found ill); its first result
// decides alone. From then on `rise` successes in a row bring it up, `fall` failures take it down.
#pragma once

#include <cstdint>
#include <string_view>

namespace portico::balancer {

enum class Condition : std::uint8_t {
  probing,  ///< no result yet; usable. Left by the first result
  up,       ///< usable. Left by `fall` failures in a row
  down,     ///< not usable. Left by `rise` successes in a row
};

std::string_view name(Condition condition);

/// What a probe came to.
enum class Probed : bool { ill, well };

/// How many results in a row count; each at least 1.
struct Thresholds {
  unsigned rise = 2;
  unsigned fall = 3;
};

class Health {
 public:
  Condition condition() const { return condition_; }
  /// Takes one result into account; returns the condition that now holds.
  Condition report(Probed result, const Thresholds& thresholds);

 private:
  Condition condition_ = Condition::probing;
  unsigned against_ = 0;  // results in a row that speak against the condition
};

}  // namespace portico::balancer
