// The part of ApplicationService that deals with what hangs: requests, starts of workers, imports.
#include <signal.h>
#include <unistd.h>

#include <algorithm>

#include "backend/host/application_service.h"
#include "backend/host/stacks.h"

namespace portico::backend {
namespace {

using record::ControlMessage;

// As the site's log tells it; the stacks follow there.
std::string describe_hang(const Worker& worker, const ControlMessage& heard) {
  return "worker " + std::to_string(worker.number) + " (process " + std::to_string(worker.pid) +
         ") hangs: " + describe_hanging(heard) + "; where its threads are:";
}

std::string describe_delay(const Worker& worker, const conf::Application& application) {
  const std::string name = "worker " + std::to_string(worker.number);
  if (worker.state == Worker::State::leaving) return name + " does not end; where it is:";
  if (worker.is_deaf) return name + " has closed its own descriptors; where it is:";
  return name + " is not ready after " + seconds_text(application.timeouts.start) +
         " (timeouts.start); where it is:";
}

}  // namespace

void ApplicationService::on_hanging(Worker& worker, const ControlMessage& heard) {
  const auto thread = static_cast<std::uint8_t>(heard.number("thread").value_or(0));
  if (!hangs_.blame(worker.number, thread, application_.timeouts.response)) return;
  worker.hanging_tid = static_cast<pid_t>(heard.number("tid").value_or(0));
  say(core::Level::error, describe_hang(worker, heard));
  replace_hanging(worker);
}

// One that has nothing to do and yet takes no record: something holds its GIL, or it was stopped.
// Whom this wrongs, since it took one in this very moment, hears the stop and ends well.
void ApplicationService::on_unclaimed() {
  workers_.for_each([this](Worker& worker) {
    if (!is_idle(worker) || !hangs_.blame(worker.number, 0, Hangs::stack_time)) return;
    say(core::Level::error, "worker " + std::to_string(worker.number) + " (process " +
                                std::to_string(worker.pid) +
                                ") takes no requests; where its threads are:");
    replace_hanging(worker);
  });
}

bool ApplicationService::is_idle(const Worker& worker) const {
  return worker.state == Worker::State::ready && is_present(worker) &&
         loop().now() - worker.since >= application_.timeouts.queue &&
         !current_->channels().any_claim(worker.number, {});
}

void ApplicationService::replace_hanging(Worker& worker) {
  worker.control->send(record::verb::stop);
  on_leaving(worker);
}

void ApplicationService::handle_hangs() {
  const auto is_busy = [this](Hangs::Id id, const ThreadSet& hanging) {
    const Worker* worker = workers_.find(id);
    Release* release = worker != nullptr ? find_release(worker->generation) : nullptr;
    return release != nullptr && release->channels().any_claim(id, hanging);
  };
  for (const Hangs::Order order : hangs_.due(is_busy)) handle_hang(order);
}

// Who was never told of hangs in the zygote, which forks it.
void ApplicationService::handle_hang(Hangs::Order order) {
  if (order.id == Hangs::zygote) return handle_slow_import(order.step);
  Worker* worker = workers_.find(order.id);
  if (worker == nullptr) return;
  if (order.step == Hangs::Step::kill) {
    worker->is_overdue = true;
    Release* release = find_release(worker->generation);
    if (worker->pid == 0 && release != nullptr) release->kill();
    return kill_worker(*worker);
  }
  if (!hangs_.hangs(order.id)) say(core::Level::error, describe_delay(*worker, application_));
  if (worker->pid == 0) return show_stacks(worker->zygote, 0);
  if (is_ours(*worker)) show_stacks(worker->pid, worker->hanging_tid);
}

void ApplicationService::handle_slow_import(Hangs::Step step) {
  if (current_ == nullptr || !current_->runs()) return;
  if (step == Hangs::Step::kill) {
    import_hangs_ = true;
    return current_->kill();
  }
  say(core::Level::error, "importing " + application_.reference + " has not ended in " +
                              seconds_text(application_.timeouts.start) +
                              " (timeouts.start); where it is:");
  show_stacks(*current_);
}

// The zygote runs the site's code and may lie about a process id: only its own children are ours,
// and those that it left to us.
bool ApplicationService::is_ours(const Worker& worker) const {
  return is_child_of(worker.pid, worker.zygote) || is_child_of(worker.pid, ::getpid());
}

void ApplicationService::kill_worker(const Worker& worker) {
  if (is_ours(worker)) ::kill(worker.pid, SIGKILL);
}

void ApplicationService::kill_workers() {
  workers_.for_each([this](const Worker& worker) { kill_worker(worker); });
}

void ApplicationService::on_deadlines() {
  if (retry_.due()) retry_.clear();  // and tend() tries again
  core::Time next = no_deadline;
  for (Release* one : releases()) {
    if (one->end_by() <= loop().now()) one->kill();
    next = std::min(next, one->end_by());
  }
  next == no_deadline ? ending_.clear() : ending_.set(next);
  if (!stop_deadline_.due()) return;
  stop_deadline_.clear();
  kill_workers();
}

void ApplicationService::show_stacks(pid_t pid, pid_t tid) {
  if (!ask_for_stacks(pid, tid))
    say(core::Level::warning, "process " + std::to_string(pid) + " shows no stacks");
}

}  // namespace portico::backend
