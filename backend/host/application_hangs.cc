// The part of ApplicationService that deals with what hangs: requests, starts of workers, imports.
#include <signal.h>

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
  return worker.state == Worker::State::ready && worker.generation == generation_ &&
         loop().now() - worker.since >= application_.timeouts.queue && channels_ &&
         !channels_->any_claim(worker.number, {});
}

void ApplicationService::replace_hanging(Worker& worker) {
  worker.control->send(record::verb::stop);
  on_leaving(worker);
}

void ApplicationService::handle_hangs() {
  const auto is_busy = [this](Hangs::Id id, const ThreadSet& hanging) {
    const Worker* worker = workers_.find(id);
    return worker != nullptr && worker->generation == generation_ && channels_ &&
           channels_->any_claim(id, hanging);
  };
  for (const Hangs::Order order : hangs_.due(is_busy)) handle_hang(order);
}

// Who was never told of hangs in the zygote, which forks it.
void ApplicationService::handle_hang(Hangs::Order order) {
  if (order.id == Hangs::zygote) return handle_slow_import(order.step);
  const Worker* worker = workers_.find(order.id);
  if (worker == nullptr) return;
  const pid_t zygote = zygote_ != nullptr ? zygote_->pid() : 0;
  if (order.step == Hangs::Step::kill) {
    if (worker->pid == 0 && zygote_ != nullptr) zygote_->kill(SIGKILL);
    return kill_worker(*worker);
  }
  if (!hangs_.hangs(order.id)) say(core::Level::error, describe_delay(*worker, application_));
  const pid_t pid = worker->pid != 0 ? worker->pid : zygote;
  if (pid == zygote || is_ours(pid)) show_stacks(pid, worker->hanging_tid);
}

void ApplicationService::handle_slow_import(Hangs::Step step) {
  if (zygote_ == nullptr) return;
  if (step == Hangs::Step::kill) {
    import_hangs_ = true;
    return zygote_->kill(SIGKILL);
  }
  say(core::Level::error, "importing " + application_.reference + " has not ended in " +
                              seconds_text(application_.timeouts.start) +
                              " (timeouts.start); where it is:");
  show_stacks(zygote_->pid(), zygote_->pid());
}

void ApplicationService::show_stacks(pid_t pid, pid_t tid) {
  if (!ask_for_stacks(pid, tid))
    say(core::Level::warning, "process " + std::to_string(pid) + " shows no stacks");
}

}  // namespace portico::backend
