#include "proxy/route/snapshot.h"

#include <cstdlib>
#include <utility>
#include <variant>
#include <vector>

#include "proxy/route/access_log.h"
#include "proxy/route/address_text.h"
#include "proxy/route/application_host.h"
#include "proxy/route/counters.h"
#include "proxy/route/error_pages.h"
#include "proxy/route/forward.h"
#include "proxy/route/limits.h"
#include "proxy/route/log_files.h"
#include "proxy/route/pools.h"
#include "proxy/route/request_id.h"
#include "proxy/route/router.h"
#include "proxy/serve/root.h"

namespace portico::route {
namespace {

using SharedHandler = std::shared_ptr<const serve::Handler>;

// A name that load() did not check is our fault.
template <typename T>
const T& found(const T* named) {
  if (named == nullptr) std::abort();
  return *named;
}

// Makes the parts of one snapshot out of its configuration.
class Compiler {
 public:
  Compiler(const conf::Config& config, Surroundings& around) : config_(config), around_(around) {}

  std::unique_ptr<const AccessLog> journal(const conf::Log& log, const std::string& site) const {
    return std::make_unique<AccessLog>(around_.logs.file(log.access), log.format,
                                       around_.counters.of(site));
  }

  std::vector<net::Network> trusted() const {
    std::vector<net::Network> networks;
    for (const conf::Network& written : config_.trusted_proxies)
      networks.push_back(network(written));
    return networks;
  }

  SharedHandler router() const {
    Hosts hosts;
    std::vector<std::unique_ptr<const Site>> sites;
    for (const conf::Site& written : config_.sites) {
      sites.push_back(site(written));
      hosts.add(written, *sites.back());
    }
    return std::make_shared<Router>(std::move(hosts), std::move(sites), Forwarded(trusted()),
                                    around_.name);
  }

 private:
  std::unique_ptr<const Site> site(const conf::Site& written) const {
    std::vector<Route> routes;
    for (const conf::Route& route : written.routes) routes.emplace_back(route, handler(route));
    return std::make_unique<Site>(written, std::move(routes), journal(written.log, written.name));
  }

  SharedHandler handler(const conf::Route& route) const {
    return std::visit([&](const auto& target) { return handler(route, target); }, route.handler);
  }
  SharedHandler handler(const conf::Route& route, const conf::ToPool& to) const {
    const conf::Pool& pool = found(conf::find_pool(config_, to.pool));
    return make_forward(route, around_.pools.open(pool), around_.pools);
  }
  SharedHandler handler(const conf::Route& route, const conf::ToApplication& to) const {
    return around_.applications.handler(found(conf::find_application(config_, to.application)),
                                        route);
  }

  const conf::Config& config_;
  Surroundings& around_;
};

}  // namespace

std::string instance_name() { return "portico-" + random_name(); }

Snapshot::Snapshot(conf::Config config) : config_(std::move(config)) {}

Snapshot::~Snapshot() = default;

std::shared_ptr<const Snapshot> Snapshot::compile(conf::Config config, Surroundings& around) {
  std::shared_ptr<Snapshot> snapshot(new Snapshot(std::move(config)));
  snapshot->build(around);
  return snapshot;
}

void Snapshot::build(Surroundings& around) {
  const Compiler compiler(config_, around);
  journal_ = compiler.journal(config_.log, "");
  pages_ = std::make_unique<ErrorPages>(around.name);
  root_ = std::make_unique<serve::Root>(serve::Root{
      .handler = compiler.router(),
      .journal = journal_.get(),
      .pages = pages_.get(),
      .make_request_id = new_request_id,
      .head = head_limits(conf::widest_limits(config_)),
      .limits = exchange_limits(config_.timeouts, config_.limits),
      .connections = {.total = static_cast<std::size_t>(config_.connections.total),
                      .per_client = static_cast<std::size_t>(config_.connections.per_client)},
      .uncounted = compiler.trusted()});
}

std::shared_ptr<const serve::Root> Snapshot::root() const {
  return {shared_from_this(), root_.get()};
}

}  // namespace portico::route
