#include "backend/host/recycling.h"

#include <algorithm>
#include <utility>

#include "conf/units.h"

namespace portico::backend {
namespace {

std::string age_text(core::Duration age) {
  return conf::duration_text(std::chrono::duration_cast<std::chrono::seconds>(age));
}

}  // namespace

Recycling::Recycling(core::Active& owner, const conf::Recycle& rules)
    : owner_(owner), rules_(rules), timer_(owner) {}

// From 1 to 1 + jitter.
double Recycling::stretch() {
  return 1 + std::uniform_real_distribution<>(0, rules_.jitter / 100.0)(random_);
}

std::uint64_t Recycling::begin(Id id) {
  Life life;
  life.born = owner_.loop().now();
  if (rules_.lifetime.count() != 0)
    life.old_at =
        life.born + std::chrono::duration_cast<core::Duration>(rules_.lifetime * stretch());
  lives_[id] = std::move(life);
  owner_.wake();  // for the timer
  return static_cast<std::uint64_t>(static_cast<double>(rules_.requests) * stretch());
}

void Recycling::forget(Id id) {
  lives_.erase(id);
  if (chosen_ == id) chosen_ = 0;
}

void Recycling::worked(Id id) {
  const auto found = lives_.find(id);
  if (found == lives_.end() || found->second.look_at != never) return;
  found->second.look_at = owner_.loop().now() + memory_look;
  owner_.wake();
}

std::vector<Recycling::Id> Recycling::due_looks() {
  std::vector<Id> looks;
  const core::Time now = owner_.loop().now();
  core::Time next = never;
  for (auto& [id, life] : lives_) {
    if (life.old_at <= now) {
      life.old_at = never;
      due(life, "at an age of " + age_text(now - life.born));
    }
    if (life.look_at <= now) {
      life.look_at = never;
      looks.push_back(id);
    }
    next = std::min({next, life.old_at, life.look_at});
  }
  next == never ? timer_.clear() : timer_.set(next);
  return looks;
}

void Recycling::has_answered(Id id, std::uint64_t answers) {
  const auto found = lives_.find(id);
  if (found == lives_.end() || rules_.requests == 0) return;
  due(found->second, "after " + std::to_string(answers) + " requests");
}

void Recycling::has_memory(Id id, std::uint64_t bytes) {
  const auto found = lives_.find(id);
  if (found == lives_.end() || bytes <= rules_.memory) return;
  due(found->second, "for " + std::to_string(bytes / conf::mib) +
                         " MiB of memory of its own, above " + conf::size_text(rules_.memory));
}

// The first reason stands.
void Recycling::due(Life& life, std::string why) {
  if (life.turn != 0) return;
  life.turn = ++last_turn_;
  life.why = std::move(why);
  owner_.wake();
}

const std::string& Recycling::why(Id id) const {
  static const std::string none;
  const auto found = lives_.find(id);
  return found == lives_.end() ? none : found->second.why;
}

Recycling::Id Recycling::choose(const std::function<bool(Id)>& fits) {
  std::uint64_t turn = 0;
  for (const auto& [id, life] : lives_) {
    if (life.turn == 0 || (turn != 0 && life.turn > turn) || !fits(id)) continue;
    turn = life.turn;
    chosen_ = id;
  }
  return chosen_;
}

}  // namespace portico::backend
