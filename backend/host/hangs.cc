#include "backend/host/hangs.h"

#include <algorithm>

namespace portico::backend {
namespace {

constexpr core::Time never = core::Time::max();
// How often one looks whether the other threads have finished: nobody waits for the worker's end.
constexpr auto busy_look = std::chrono::milliseconds(100);

}  // namespace

void Hangs::expect(Id id, core::Time by) {
  cases_[id] = {{}, by, never, never};
  owner_.wake();
}

bool Hangs::blame(Id id, std::uint8_t thread, core::Duration grace) {
  const core::Time now = owner_.loop().now();
  const auto [at, is_new] = cases_.try_emplace(id, Case{{}, now, never, now + grace});
  Case& one = at->second;
  if (one.threads.test(thread)) return false;
  one.kill_by = std::min(one.kill_by, now + grace);
  one.threads.set(thread);
  one.stacks_at = now;
  owner_.wake();
  return true;
}

bool Hangs::hangs(Id id) const {
  const auto found = cases_.find(id);
  return found != cases_.end() && found->second.threads.any();
}

std::vector<Hangs::Order> Hangs::due(const IsBusy& is_busy) {
  std::vector<Order> orders;
  const core::Time now = owner_.loop().now();
  core::Time next = never;
  for (auto& [id, one] : cases_) {
    if (one.stacks_at <= now) {
      orders.push_back({id, Step::show_stacks});
      one.stacks_at = never;
      one.kill_after = now + stack_time;
    } else if (one.kill_after <= now && (one.kill_by <= now || !is_busy(id, one.threads))) {
      orders.push_back({id, Step::kill});
      one.kill_after = never;
    }
    next = std::min(next, next_look(one, now));
  }
  if (next == never) {
    timer_.clear();
  } else {
    timer_.set(next);
  }
  return orders;
}

core::Time Hangs::next_look(const Case& one, core::Time now) const {
  const core::Time step = std::min(one.stacks_at, one.kill_after);
  return step == never || step > now ? step : now + busy_look;
}

std::string seconds_text(core::Duration time) {
  const auto tenths = std::chrono::duration_cast<std::chrono::milliseconds>(time).count() / 100;
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " s";
}

std::string describe_request(const record::ControlMessage& heard) {
  const auto text = [&](std::string_view key) { return std::string(heard.text(key).value_or("")); };
  return text("method") + " " + text("target") + " [" + text("id") + "]";
}

std::string describe_hanging(const record::ControlMessage& heard) {
  return describe_request(heard) + " runs for " +
         seconds_text(std::chrono::milliseconds(heard.number("waited").value_or(0)));
}

}  // namespace portico::backend
