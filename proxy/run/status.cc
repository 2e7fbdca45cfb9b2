#include "proxy/run/status.h"

#include <unistd.h>

#include <algorithm>
#include <set>

namespace portico::run {
namespace {

using process::ServiceReport;
using process::WorkerReport;

constexpr std::string_view silent_front = "the front does not answer";

template <typename List, typename Fits>
auto find(const List& list, Fits&& fits) -> decltype(list.data()) {
  const auto at = std::find_if(list.begin(), list.end(), fits);
  return at == list.end() ? nullptr : &*at;
}

/// What parts are worth together: nothing works only where no part does.
Standing together(const std::vector<Standing>& parts) {
  const auto all = [&](Standing wanted) {
    return std::all_of(parts.begin(), parts.end(), [&](Standing part) { return part == wanted; });
  };
  if (all(Standing::well)) return Standing::well;
  return all(Standing::down) ? Standing::down : Standing::degraded;
}

std::string counted(std::size_t ready, unsigned wanted) {
  return std::to_string(ready) + " of " + std::to_string(wanted) +
         (wanted == 1 ? " worker is ready" : " workers are ready");
}

std::string reason_of(std::string_view outage) {
  if (outage == "DNS") return "its name does not resolve";
  if (outage == "probes") return "its health check fails";
  return "requests to it failed";
}

class Compiler {
 public:
  Compiler(const Knowledge& known, const MemoryOf& memory_of)
      : known_(known), memory_of_(memory_of) {}

  ProcessStatus process(pid_t pid) const {
    return {pid, pid == 0 ? std::nullopt : memory_of_(pid)};
  }

  ApplicationStatus application(const ServiceReport& report) const {
    ApplicationStatus status{
        report, Standing::well, {}, process(report.parent), process(report.base), {}, {}};
    for (const WorkerReport& worker : report.workers)
      status.workers.push_back(
          {worker, process(worker.pid).memory, requests(report.name, worker.number)});
    for (const process::CompanionReport& companion : report.companions)
      status.companions.push_back({companion, process(companion.pid).memory});
    judge(status);
    return status;
  }

  PoolStatus pool(const conf::Pool& written) const {
    PoolStatus status{written.name, Standing::well, {}};
    std::vector<Standing> parts;
    for (const conf::Endpoint& endpoint : written.endpoints) {
      status.endpoints.push_back(this->endpoint(written.name, endpoint.address.text()));
      parts.push_back(standing(status.endpoints.back().state));
    }
    status.standing = together(parts);
    return status;
  }

  SiteStatus site(const conf::Site& written, const Status& all) const {
    SiteStatus status{written.name, Standing::well, {}, {}};
    std::vector<Standing> parts;
    for (const conf::Route& route : written.routes) {
      status.routes.push_back(this->route(route));
      parts.push_back(standing(status.routes.back(), all));
    }
    status.standing = together(parts);
    if (known_.front != nullptr) {
      const auto* counted =
          find(known_.front->sites, [&](const auto& each) { return each.name == written.name; });
      if (counted != nullptr) status.requests = counted->by_class;
    }
    return status;
  }

 private:
  std::optional<std::uint64_t> requests(const std::string& application, unsigned number) const {
    if (known_.front == nullptr) return std::nullopt;
    const auto* worker = find(known_.front->workers, [&](const auto& each) {
      return each.application == application && each.number == number;
    });
    return worker == nullptr ? 0 : worker->requests;
  }

  void judge(ApplicationStatus& status) const {
    const ServiceReport& report = status.report;
    const auto ready = static_cast<std::size_t>(std::count_if(
        report.workers.begin(), report.workers.end(),
        [](const auto& worker) { return worker.state == WorkerReport::State::ready; }));
    if (report.state == ServiceReport::State::sleeping) return;
    if (ready < report.least) status.reason = counted(ready, report.least);
    if (report.state == ServiceReport::State::failed) status.reason = report.reason;
    if (status.reason.empty() && !healthy(report.name)) status.reason = reason_of("probes");
    if (status.reason.empty()) return judge_companions(status);
    status.standing = ready == 0 ? Standing::down : Standing::degraded;
  }

  /// Requests are answered all the same.
  static void judge_companions(ApplicationStatus& status) {
    const auto* failing =
        find(status.report.companions, [](const auto& one) { return one.is_failing; });
    if (failing == nullptr) return;
    status.reason = "the process " + failing->name + " " + failing->last_end;
    status.standing = Standing::degraded;
  }

  bool healthy(const std::string& application) const {
    if (known_.front == nullptr) return true;
    const auto* found = find(known_.front->applications,
                             [&](const auto& each) { return each.name == application; });
    return found == nullptr || found->healthy;
  }

  EndpointStatus endpoint(const std::string& pool, const std::string& address) const {
    using State = EndpointStatus::State;
    EndpointStatus status{address, State::unknown, std::string(silent_front), 0};
    if (known_.front == nullptr) return status;
    const auto* found = find(known_.front->endpoints, [&](const auto& each) {
      return each.pool == pool && each.address == address;
    });
    if (found == nullptr) return status;
    const bool up = found->outage == "none";
    return {address, up ? State::up : State::down, up ? "" : reason_of(found->outage),
            found->running};
  }

  static Standing standing(EndpointStatus::State state) {
    if (state == EndpointStatus::State::up) return Standing::well;
    return state == EndpointStatus::State::down ? Standing::down : Standing::degraded;
  }

  RouteStatus route(const conf::Route& written) const {
    if (const auto* to = std::get_if<conf::ToApplication>(&written.handler))
      return {written.path, true, to->application};
    return {written.path, false, std::get<conf::ToPool>(written.handler).pool};
  }

  static Standing standing(const RouteStatus& route, const Status& all) {
    if (route.is_application) {
      const auto* found = find(all.applications,
                               [&](const auto& each) { return each.report.name == route.target; });
      return found == nullptr ? Standing::down : found->standing;
    }
    const auto* found =
        find(all.pools, [&](const auto& each) { return each.name == route.target; });
    return found == nullptr ? Standing::down : found->standing;
  }

  const Knowledge& known_;
  const MemoryOf& memory_of_;
};

/// The pools that the routes of these sites lead to.
std::set<std::string> pools_of(const std::vector<const conf::Site*>& sites) {
  std::set<std::string> names;
  for (const conf::Site* site : sites) {
    for (const conf::Route& route : site->routes)
      if (const auto* to = std::get_if<conf::ToPool>(&route.handler)) names.insert(to->pool);
  }
  return names;
}

/// The whole is down only when everything is: what works is what the operator wants to hear of.
void judge(Status& status) {
  std::vector<Standing> parts;
  for (const SiteStatus& site : status.sites) parts.push_back(site.standing);
  status.standing = together(parts);
  if (!status.front_answers) status.reasons.emplace_back(silent_front);
  if (status.stopping) status.reasons.emplace_back("it is stopping");
  if (!status.reasons.empty()) status.standing = std::max(status.standing, Standing::degraded);
}

}  // namespace

Status status_of(const Knowledge& known, const std::function<bool(const std::string&)>& sees,
                 const MemoryOf& memory_of) {
  const Compiler compiler(known, memory_of);
  std::vector<const conf::Site*> sites;
  for (const conf::Site& site : known.config.sites)
    if (sees(site.name)) sites.push_back(&site);
  const std::set<std::string> pools = pools_of(sites);

  Status status;
  status.stopping = known.stopping;
  status.supervisor = compiler.process(::getpid());
  status.age = known.age;
  status.front = compiler.process(known.front_pid);
  status.front_answers = known.front != nullptr;
  for (const ServiceReport& report : known.services)
    if (sees(report.site)) status.applications.push_back(compiler.application(report));
  for (const conf::Pool& pool : known.config.pools)
    if (pools.count(pool.name) != 0) status.pools.push_back(compiler.pool(pool));
  for (const conf::Site* site : sites) status.sites.push_back(compiler.site(*site, status));
  judge(status);
  return status;
}

std::string_view name(Standing standing) {
  constexpr std::string_view names[] = {"well", "degraded", "down"};
  return names[static_cast<std::size_t>(standing)];
}

std::string_view name(EndpointStatus::State state) {
  constexpr std::string_view names[] = {"up", "down", "unknown"};
  return names[static_cast<std::size_t>(state)];
}

std::string_view name(WorkerReport::State state) {
  constexpr std::string_view names[] = {"starting", "ready", "leaving"};
  return names[static_cast<std::size_t>(state)];
}

std::string_view name(process::DeployReport::State state) {
  constexpr std::string_view names[] = {"running", "done", "failed"};
  return names[static_cast<std::size_t>(state)];
}

std::string_view name(process::CompanionReport::State state) {
  constexpr std::string_view names[] = {"waiting", "running", "stopping"};
  return names[static_cast<std::size_t>(state)];
}

std::string_view name(ServiceReport::State state) {
  constexpr std::string_view names[] = {"starting", "ready", "failed", "sleeping"};
  return names[static_cast<std::size_t>(state)];
}

}  // namespace portico::run
