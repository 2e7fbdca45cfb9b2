// Main: the only place that sees both run and backend; it puts the one's parts into the other.
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "backend/front/applications.h"
#include "backend/host/embedded_check.h"
#include "backend/host/service_factory.h"
#include "backend/host/site_groups.h"
#include "proxy/run/commands.h"
#include "proxy/run/parts.h"

namespace {

using namespace portico;

/// backend's applications as run wants them.
class WsgiApplications final : public run::Applications {
 public:
  WsgiApplications(const conf::Config& config, unsigned threads, run::TellService tell)
      : applications_(config, threads, std::move(tell)) {}

  std::shared_ptr<const serve::Handler> handler(const conf::Application& application,
                                                const conf::Route& route) override {
    return applications_.handler(application, route);
  }
  void hear(std::string_view service, std::string_view text, std::vector<core::Fd> fds) override {
    applications_.hear(service, text, std::move(fds));
  }
  run::ApplicationFacts facts(std::string_view service) const override {
    run::ApplicationFacts facts;
    const auto application = applications_.find(service);
    if (application == nullptr) return facts;
    facts.healthy = application->healthy();
    for (const backend::WorkerStatus& worker : application->workers())
      facts.workers.push_back(
          {worker.worker, worker.tally->answers.load(std::memory_order_relaxed)});
    return facts;
  }
  void attach(core::Loop& loop) override { applications_.attach(loop); }
  void detach(core::Loop& loop) override { applications_.detach(loop); }

 private:
  backend::Applications applications_;
};

std::vector<conf::Problem> missing_on_this_machine(const conf::Config& config) {
  std::vector<conf::Problem> missing = backend::check_embedded(config);
  for (conf::Problem& problem : backend::check_resources(config))
    missing.push_back(std::move(problem));
  return missing;
}

run::Parts all_parts() {
  run::Parts parts;
  parts.services = backend::make_services;
  parts.applications = [](const conf::Config& config, unsigned threads, run::TellService tell) {
    return std::make_unique<WsgiApplications>(config, threads, std::move(tell));
  };
  parts.missing = missing_on_this_machine;
  return parts;
}

}  // namespace

int main(int argc, char** argv) { return run::portico_main(argc, argv, all_parts()); }
