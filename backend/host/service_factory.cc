#include "backend/host/service_factory.h"

#include <fcntl.h>
#include <unistd.h>

#include <fstream>
#include <map>
#include <string>

#include "backend/host/application_service.h"
#include "backend/host/bases.h"
#include "backend/host/embedded_service.h"
#include "backend/host/engine_blob.h"
#include "proxy/core/log.h"
#include "proxy/process/identity.h"

namespace portico::backend {
namespace {

// vm.memfd_noexec=2 forbids executing what lies in a memfd; 0 and 1 leave the choice to us.
bool memfd_may_execute() {
  std::ifstream in("/proc/sys/vm/memfd_noexec");
  int level = 0;
  return !(in >> level) || level < 2;
}

bool write_engine_file(const std::string& path) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << engine_image();
  return out.good();
}

void place_engine(HostOptions& options, const conf::Config& config) {
  if (memfd_may_execute()) {
    auto engine = sealed_copy("portico-engine", engine_image());
    if (engine) options.engine = std::move(*engine);
    if (options.engine) return;
  }
  options.engine_file = config.run_directory + "/_portico.abi3.so";
  if (!write_engine_file(options.engine_file)) {
    core::log(core::Level::error, "the engine can be neither kept in memory nor written to " +
                                      options.engine_file + " (run_directory)");
  }
}

void choose_identity(HostOptions& options, const conf::Config& config) {
  if (!process::started_as_root()) return;
  auto identity = process::front_identity(config.user);
  if (identity) {
    options.identity = std::move(*identity);
  } else {
    options.user_error = core::describe(identity.error());
  }
}

std::unique_ptr<process::Service> make_service(core::Active& supervisor,
                                               const conf::Application& application,
                                               std::shared_ptr<const HostOptions> options,
                                               std::shared_ptr<process::RecentLines> recent) {
  if (application.embedded)
    return std::make_unique<EmbeddedService>(supervisor, application, std::move(options),
                                             std::move(recent));
  return std::make_unique<ApplicationService>(supervisor, application, std::move(options),
                                              std::move(recent));
}

}  // namespace

std::vector<std::unique_ptr<process::Service>> make_services(core::Active& supervisor,
                                                             const conf::Config& config) {
  std::vector<std::unique_ptr<process::Service>> services;
  if (config.applications.empty()) return services;
  auto options = std::make_shared<HostOptions>();
  place_engine(*options, config);
  choose_identity(*options, config);
  options->bases = std::make_shared<Bases>(supervisor.loop());
  options->groups = SiteGroups(config);
  std::map<std::string, std::shared_ptr<process::RecentLines>> recent;  // by site
  for (const conf::Application& application : config.applications) {
    auto& lines = recent[application.site];
    if (lines == nullptr) lines = std::make_shared<process::RecentLines>();
    services.push_back(make_service(supervisor, application, options, lines));
  }
  return services;
}

}  // namespace portico::backend
