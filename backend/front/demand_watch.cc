#include "backend/front/demand_watch.h"

#include "backend/front/application.h"

namespace portico::backend {
namespace {

// Between two looks: while requests wait, a fifth of the patience with them; while there is a
// thread for each, often enough to see that some wait.
constexpr auto busy_look = Demand::patience / 5;
constexpr auto calm_look = Demand::patience;

Demand::Bounds bounds_of(const conf::Application& options) {
  return {options.demand->min, options.workers, options.threads, options.demand->idle};
}

}  // namespace

DemandWatch::DemandWatch(core::Loop& loop, Application& application)
    : Active(loop),
      application_(application),
      demand_(bounds_of(application.options())),
      timer_(*this) {}

void DemandWatch::adopt(unsigned workers) {
  demand_.adopt(workers, loop().now());
  wake();
}

void DemandWatch::on_state() {
  if (application_.state() == Application::State::ready)
    application_.report_demand(demand_.wanted());
  wake();
}

// One that has failed refuses what is there: those requests want no worker.
void DemandWatch::advance() {
  if (application_.state() == Application::State::failed) {
    timer_.clear();
    return application_.look_away();
  }
  const std::size_t load = application_.look_at_load();
  const std::size_t capacity = application_.capacity();
  if (demand_.look(load, capacity, loop().now())) application_.report_demand(demand_.wanted());
  plan(load, capacity);
}

void DemandWatch::plan(std::size_t load, std::size_t capacity) {
  if (load != 0) return timer_.set_after(load > capacity ? busy_look : calm_look);
  const core::Time next = demand_.next_leave();
  next == core::Time::max() ? timer_.clear() : timer_.set(next);
}

}  // namespace portico::backend
