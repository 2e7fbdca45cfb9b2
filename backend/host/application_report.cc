// What an application says of itself for status: ApplicationService::report().
#include "backend/host/application_service.h"

namespace portico::backend {
namespace {

using process::ServiceReport;
using process::WorkerReport;

WorkerReport::State state_of(Worker::State state) {
  if (state == Worker::State::ready) return WorkerReport::State::ready;
  return state == Worker::State::leaving ? WorkerReport::State::leaving
                                         : WorkerReport::State::starting;
}

}  // namespace

ServiceReport ApplicationService::report() const {
  ServiceReport report = begin_report();
  report.parent = current_ != nullptr ? current_->pid() : 0;
  report.base = current_ != nullptr ? current_->base() : 0;
  report.preloads =
      current_ != nullptr ? current_->preloads() : application_.preload != conf::Preload::never;
  report.wanted = target_;
  report.least = least();
  report.most = application_.workers;
  report.recycled = recycled_;
  for (const auto& [number, worker] : workers_.all())
    report.workers.push_back({number, worker.pid, state_of(worker.state),
                              loop().now() - worker.born, recycling_.why(number)});
  report.companions = companions_.report();
  report.deploy = deploy_ != nullptr ? deploy_->report() : last_deploy_;
  report.resources = options_->groups.report(application_.name);
  return report;
}

}  // namespace portico::backend
