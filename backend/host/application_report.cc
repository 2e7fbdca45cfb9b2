// What an application says of itself for status: ApplicationService::report().
#include "backend/host/application_service.h"
#include "backend/host/launch.h"

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
  ServiceReport report;
  report.name = application_.name;
  report.site = application_.site;
  if (state_ == State::ready) report.state = ServiceReport::State::ready;
  if (state_ == State::failed) {
    report.state = ServiceReport::State::failed;
    report.reason = reason_;
  }
  report.user = identity_of(application_, options_->identity);
  report.parent = current_ != nullptr ? current_->pid() : 0;
  report.preloads =
      current_ != nullptr ? current_->preloads() : application_.preload != conf::Preload::never;
  if (state_ == State::sleeping) report.state = ServiceReport::State::sleeping;
  report.wanted = target_;
  report.least = least();
  report.most = application_.workers;
  report.recycled = recycled_;
  for (const auto& [number, worker] : workers_.all())
    report.workers.push_back({number, worker.pid, state_of(worker.state),
                              loop().now() - worker.born, recycling_.why(number)});
  report.companions = companions_.report();
  report.deploy = deploy_ != nullptr ? deploy_->report() : last_deploy_;
  report.troubles = log_.troubles().list();
  return report;
}

}  // namespace portico::backend
