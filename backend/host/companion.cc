#include "backend/host/companion.h"

#include <signal.h>

#include <algorithm>
#include <utility>

#include "proxy/process/session.h"

namespace portico::backend {
namespace {

// Pipes that are still read, since what a companion has left behind holds them open.
constexpr std::size_t outputs_kept = 4;

}  // namespace

Companion::Companion(core::Active& owner, const HostOptions& options, process::SiteLog& log,
                     conf::Companion what)
    : owner_(owner),
      options_(options),
      log_(log),
      what_(std::move(what)),
      since_(owner.loop().now()),
      timer_(owner) {}

Companion::~Companion() {
  if (process_ != nullptr) process_->kill(SIGKILL);
}

void Companion::enter(State state) {
  state_ = state;
  since_ = owner_.loop().now();
}

void Companion::run(std::shared_ptr<const conf::Application> code, core::Duration time_to_end) {
  code_ = std::move(code);
  backoff_.proved();
  if (process_ == nullptr) return start();
  end_by(owner_.loop().now() + time_to_end);
}

void Companion::start() {
  timer_.clear();
  backoff_.started(owner_.loop().now());
  auto started = SiteProcess::start(owner_, *code_, options_, what_.command, log_.sink(what_.name));
  if (!started) {
    return try_later("could not be started (" + what_.command.front() +
                     "): " + core::describe(started.error()));
  }
  process_ = std::move(*started);
  enter(State::running);
}

void Companion::try_later(const std::string& why) {
  last_end_ = why;
  ++ends_;
  log_.say(core::Level::warning, "the process " + what_.name + " " + why + "; it is started again");
  enter(State::waiting);
  timer_.set_after(backoff_.died(owner_.loop().now()));
}

void Companion::stop(core::Time deadline) {
  code_.reset();
  if (process_ != nullptr) return end_by(deadline);
  timer_.clear();
  enter(State::waiting);
}

// One that was told already keeps the earlier deadline.
void Companion::end_by(core::Time deadline) {
  if (state_ != State::stopping) {
    process_->kill(SIGTERM);
    enter(State::stopping);
    kill_at_ = deadline;
  }
  kill_at_ = std::min(kill_at_, deadline);
  timer_.set(kill_at_);
}

// What it has started and left behind ends with it.
void Companion::ended(const std::string& how) {
  const pid_t session = process_->pid();
  outputs_.push_back(process_->ended());
  if (outputs_.size() > outputs_kept) outputs_.pop_front();
  process_.reset();
  process::kill_session(session);
  const bool was_told = state_ == State::stopping;
  timer_.clear();
  enter(State::waiting);
  if (code_ == nullptr) return;
  was_told ? start() : try_later(how);
}

void Companion::check() {
  std::erase_if(outputs_, [](const auto& output) { return output->ended(); });
  if (!timer_.due()) return;
  timer_.clear();
  if (state_ == State::waiting) return start();
  log_.say(core::Level::warning, "the process " + what_.name + " does not end; it is killed");
  process_->kill(SIGKILL);
}

process::CompanionReport Companion::report() const {
  const core::Duration age = owner_.loop().now() - since_;
  const bool is_young = state_ == State::waiting || age < process::Backoff::healthy;
  return {what_.name, state_,   pid(), age, backoff_.deaths_in_a_row() > 0 && is_young,
          ends_,      last_end_};
}

}  // namespace portico::backend
