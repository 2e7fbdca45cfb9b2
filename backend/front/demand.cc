#include "backend/front/demand.h"

#include <algorithm>

namespace portico::backend {

void Demand::adopt(unsigned workers, core::Time now) {
  wanted_ = std::clamp(workers, bounds_.min, bounds_.max);
  for (Level& level : levels_) level.since = never;
  for (unsigned i = 0; i < wanted_; ++i) levels_[i].needed = now;
}

void Demand::note(Level& level, bool has_requests, core::Duration wait, core::Time now) {
  if (!has_requests) {
    level.since = never;
    return;
  }
  if (level.since == never) level.since = now;
  if (now - level.since >= wait) level.needed = now;
}

bool Demand::look(std::size_t load, std::size_t capacity, core::Time now) {
  const unsigned before = wanted_;
  for (std::size_t i = 0; i < levels_.size(); ++i)
    note(levels_[i], load > i * bounds_.threads, i == 0 ? core::Duration(0) : patience, now);
  const bool all_ready = capacity >= std::size_t{wanted_} * bounds_.threads;
  if (wanted_ < bounds_.max && all_ready && levels_[wanted_].needed == now) ++wanted_;
  while (may_go(now)) --wanted_;
  return wanted_ != before;
}

core::Time Demand::next_leave() const {
  if (wanted_ == bounds_.min) return core::Time::max();
  return levels_[wanted_ - 1].needed + bounds_.idle;
}

bool Demand::may_go(core::Time now) const { return wanted_ > bounds_.min && now >= next_leave(); }

}  // namespace portico::backend
