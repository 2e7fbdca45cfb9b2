// The part of ApplicationService that changes code: one deploy at a time, beside the code in use.
#include <utility>

#include "backend/host/application_service.h"
#include "proxy/core/log.h"

namespace portico::backend {
namespace {

// What workers of code that will not be used may take to leave.
constexpr auto put_away_time = std::chrono::seconds(5);

using Outcome = process::Progress::Outcome;

}  // namespace

bool ApplicationService::is_next(std::uint64_t generation) const {
  return deploy_ != nullptr && deploy_->next().number() == generation;
}

// A change that comes while one runs is another: it may have come too late for that.
void ApplicationService::deploy(std::unique_ptr<process::Progress> progress) {
  const auto refuse = [&](std::string_view why) {
    if (progress != nullptr) progress->ended(Outcome::failed, why);
  };
  if (stopping_ || !front_.present()) return refuse("Portico is starting or stopping; try again");
  if (deploy_ != nullptr) {
    changed_meanwhile_ = changed_meanwhile_ || progress == nullptr;
    return refuse("a deploy of " + application_.name + " runs already; wait for its end");
  }
  Release::Failure failure;
  const Release::Place place = next_place();
  auto next = Release::start(*this, application_, place, failure);
  if (next == nullptr) {
    say(core::Level::error,
        "deploy: " + failure.reason + (has_code() ? "; the old code stays" : ""));
    const auto now = std::chrono::system_clock::now();
    last_deploy_ = {process::DeployReport::State::failed, "starting", now, now, failure.reason};
    return refuse(failure.reason);
  }
  front_.queue(next->number(), next->channels(), Standing::standby);
  Deploy::Site& site = *this;
  deploy_ = std::make_unique<Deploy>(*this, site, place, std::move(next), std::move(progress));
}

void ApplicationService::ask(Release& next, const std::string& target) {
  front_.warm(next.number(), target);
}

// Where it has a worker already, that is what takes so long.
void ApplicationService::show_stacks(Release& next) {
  bool has_worker = false;
  workers_.for_each([&](const Worker& worker) {
    if (worker.generation != next.number() || !is_ours(worker)) return;
    has_worker = true;
    show_stacks(worker.pid, 0);
  });
  if (!has_worker) show_stacks(next.pid(), next.pid());
}

void ApplicationService::settle_deploy() {
  if (deploy_ == nullptr || !deploy_->over()) return;
  end_switch();
  switching_ = std::move(deploy_);
  last_deploy_ = switching_->report();
  if (switching_->step() == Deploy::Step::succeeded) {
    switching_from_ = switch_over(switching_->take());
  } else {
    put_away(switching_->take());
    switching_from_ = 0;
  }
  if (switching_from_ == 0) end_switch();
  if (std::exchange(changed_meanwhile_, false)) this->deploy(nullptr);
}

// Whoever asked for it may now rely on the new code: each front thread uses it.
void ApplicationService::end_switch() {
  if (switching_ == nullptr) return;
  switching_->tell_end();
  switching_.reset();
}

// Returns the generation that the front leaves; 0: none. New records go to the new code. What the
// old workers run they finish; each that leaves makes room for a new one.
std::uint64_t ApplicationService::switch_over(std::unique_ptr<Release> next) {
  front_.switch_to(next->number());
  std::unique_ptr<Release> earlier = std::exchange(current_, std::move(next));
  served_ = current_->application();
  has_served_ = true;
  say(core::Level::info, "deploy: " + served_->directory + " serves");
  const std::uint64_t left = earlier != nullptr ? earlier->number() : 0;
  if (earlier != nullptr) {
    hangs_.forget(Hangs::zygote);
    const core::Time by = drained_by();
    workers_.for_each([&](const Worker& worker) {
      if (worker.generation == earlier->number() && !hangs_.hangs(worker.number))
        hangs_.expect(worker.number, by);
    });
    earlier->stop(by + put_away_time);
    past_.push_back(std::move(earlier));
  }
  retry_.clear();
  if (any_ready()) become(State::ready);
  companions_.renew(*served_);
  fill();
  return left;
}

void ApplicationService::put_away(std::unique_ptr<Release> next) {
  front_.drop(next->number());
  const core::Time by = loop().now() + put_away_time;
  workers_.for_each([&](Worker& worker) {
    if (worker.generation == next->number()) send_away(worker, by);
  });
  next->stop(by);
  past_.push_back(std::move(next));
  forget_past();
  wake();  // it may have had no process, whose end would wake us
}

}  // namespace portico::backend
