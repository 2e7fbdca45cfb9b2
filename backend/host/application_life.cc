// The part of ApplicationService that decides how many workers there are, and how long: demand,
// sleep, recycling.
#include <algorithm>

#include "backend/host/application_service.h"
#include "conf/units.h"
#include "proxy/core/log.h"
#include "proxy/process/memory.h"

namespace portico::backend {
namespace {

// What an interpreter that nobody needs may take to end.
constexpr auto rest_time = std::chrono::seconds(5);
// What a worker may take for what it runs, at least: a download that has begun.
constexpr auto least_drain_time = std::chrono::minutes(5);

}  // namespace

core::Time ApplicationService::drained_by() const {
  return loop().now() + std::max<core::Duration>(least_drain_time, application_.timeouts.response);
}

unsigned ApplicationService::least() const {
  return application_.demand ? application_.demand->min : application_.workers;
}

void ApplicationService::on_demand(std::uint64_t workers) {
  if (!application_.demand) return;
  target_ =
      static_cast<unsigned>(std::clamp<std::uint64_t>(workers, least(), application_.workers));
  if (target_ != 0 && state_ == State::sleeping) {
    say(core::Level::info, "starts: a request came");
    become(State::starting);
  }
  wake();
}

void ApplicationService::aim_low() {
  if (!application_.demand) return;
  target_ = least();
  front_.target(target_);
}

void ApplicationService::tend() {
  if (stopping_ || !front_.present()) return;
  if (current_ == nullptr) return start_or_sleep();
  fill();
  trim();
  exchange_worker();
  rest();
}

// Its companions do not sleep, and do not wait for the first request.
void ApplicationService::start_or_sleep() {
  if (retry_.is_set() || awaits_change()) return;
  if (target_ != 0) return start_code();
  if (state_ == State::sleeping) return;
  become(State::sleeping);
  companions_.begin(served_ ? *served_ : resolve_code(application_));
}

bool ApplicationService::serves(Recycling::Id id) {
  const Worker* worker = workers_.find(id);
  return worker != nullptr && is_present(*worker) && worker->state == Worker::State::ready;
}

// With the successor of one that is to go.
unsigned ApplicationService::wanted() { return target_ + (serves(recycling_.chosen()) ? 1 : 0); }

void ApplicationService::trim() {
  while (workers_.serving(current_->number()) > wanted()) dismiss(least_useful());
}

// One that does not serve yet, one that is due, one that runs nothing; among equals the youngest.
Worker& ApplicationService::least_useful() {
  const auto use = [this](const Worker& worker) {
    if (worker.state == Worker::State::starting) return 0;
    if (!recycling_.why(worker.number).empty()) return 1;
    return current_->channels().any_claim(worker.number, {}) ? 3 : 2;
  };
  Worker* least = nullptr;
  workers_.for_each([&](Worker& worker) {
    if (!is_present(worker) || worker.state == Worker::State::leaving) return;
    const int difference = least == nullptr ? -1 : use(worker) - use(*least);
    if (difference < 0 || (difference == 0 && worker.born >= least->born)) least = &worker;
  });
  return *least;
}

// It finishes what it runs. The front counts on it no more from here on.
void ApplicationService::dismiss(Worker& worker) {
  end_unready(worker);
  send_away(worker, drained_by());
  if (is_known_to_front(worker)) front_.leaving(worker);
  note_missing();
}

// Nobody serves any more.
void ApplicationService::note_missing() {
  if (any_ready() || state_ != State::ready) return;
  become(target_ == 0 ? State::sleeping : State::starting);
}

// It serves until one more is ready than there should be. During a deploy there is one more
// already.
void ApplicationService::exchange_worker() {
  const auto fits = [this](Recycling::Id id) { return serves(id); };
  if (recycling_.chosen() == 0 && deploy_ == nullptr && recycling_.choose(fits) != 0) fill();
  const Recycling::Id chosen = recycling_.chosen();
  if (!serves(chosen) || workers_.ready(current_->number()) <= target_) return;
  say(core::Level::info,
      "worker " + std::to_string(chosen) + " is recycled " + recycling_.why(chosen));
  ++recycled_;
  dismiss(*workers_.find(chosen));
}

// Nobody is needed, and nobody is left: the interpreter goes too. Its channels stay until the front
// is told of others.
void ApplicationService::rest() {
  const bool is_needed = target_ != 0 || current_->state() != Release::State::imported ||
                         workers_.any(current_->number());
  if (is_needed) return;
  say(core::Level::info,
      "sleeps: there was no request for " + conf::duration_text(application_.demand->idle));
  current_->stop(loop().now() + rest_time);
  past_.push_back(std::move(current_));
  become(State::sleeping);
}

void ApplicationService::watch_memory() {
  for (const Recycling::Id id : recycling_.due_looks()) {
    const Worker* worker = workers_.find(id);
    if (worker == nullptr || worker->state != Worker::State::ready) continue;
    if (const auto bytes = process::own_memory_of(worker->pid)) recycling_.has_memory(id, *bytes);
    if (is_known_to_front(*worker)) front_.watch(id);
  }
}

}  // namespace portico::backend
