#include "proxy/run/status_json.h"

#include "proxy/core/json.h"
#include "proxy/core/text.h"
#include "proxy/run/help.h"

namespace portico::run {
namespace {

using core::Json;

template <typename T>
void number_or_null(Json& json, std::string_view key, const std::optional<T>& value) {
  json.key(key);
  if (value) {
    json.number(*value);
  } else {
    json.null();
  }
}

void put_pid(Json& json, pid_t pid) {
  number_or_null(json, "pid", pid == 0 ? std::nullopt : std::optional(pid));
}

void put_memory(Json& json, const std::optional<process::Memory>& memory) {
  number_or_null(json, "memory",
                 memory ? std::optional(memory->bytes) : std::optional<std::uint64_t>());
  json.key("memory_kind");
  if (!memory) {
    json.null();
    return;
  }
  json.text(memory->how == process::Counted::alone ? "private" : "pss");
}

void put_process(Json& json, std::string_view key, const ProcessStatus& process) {
  json.key(key).open('{');
  put_pid(json, process.pid);
  put_memory(json, process.memory);
  json.close('}');
}

void put_age(Json& json, core::Duration age) {
  json.key("age").seconds(std::chrono::duration_cast<std::chrono::microseconds>(age));
}

void put_requests(Json& json, const std::array<std::uint64_t, 6>& by_class) {
  static constexpr std::string_view names[] = {"unanswered", "1xx", "2xx", "3xx", "4xx", "5xx"};
  json.open('{');
  for (std::size_t i = 0; i < by_class.size(); ++i) json.key(names[i]).number(by_class[i]);
  json.close('}');
}

void put_site(Json& json, const SiteStatus& site) {
  json.open('{').key("name").text(site.name).key("state").text(name(site.standing));
  json.key("requests");
  if (site.requests) {
    put_requests(json, *site.requests);
  } else {
    json.null();
  }
  json.key("routes").open('[');
  for (const RouteStatus& route : site.routes) {
    json.open('{').key("path").text(route.path);
    json.key(route.is_application ? "application" : "pool").text(route.target).close('}');
  }
  json.close(']').close('}');
}

void put_worker(Json& json, const WorkerStatus& worker) {
  json.open('{').key("number").number(worker.report.number);
  json.key("state").text(name(worker.report.state));
  put_pid(json, worker.report.pid);
  put_age(json, worker.report.age);
  put_memory(json, worker.memory);
  number_or_null(json, "requests", worker.requests);
  json.key("due").text_or_null(worker.report.due);
  json.close('}');
}

void put_companion(Json& json, const CompanionStatus& companion) {
  const process::CompanionReport& report = companion.report;
  json.open('{').key("name").text(report.name).key("state").text(name(report.state));
  put_pid(json, report.pid);
  put_age(json, report.age);
  put_memory(json, companion.memory);
  json.key("ends").number(report.ends).key("last_end").text_or_null(report.last_end).close('}');
}

void put_deploy(Json& json, const std::optional<process::DeployReport>& deploy) {
  json.key("deploy");
  if (!deploy) {
    json.null();
    return;
  }
  json.open('{').key("state").text(name(deploy->state)).key("step").text_or_null(deploy->step);
  json.key("began").text(core::utc_stamp(deploy->began));
  json.key("since").text(core::utc_stamp(deploy->since));
  json.key("reason").text_or_null(deploy->reason).close('}');
}

void put_most(Json& json, std::string_view key, std::uint64_t most) {
  number_or_null(json, key, most == 0 ? std::nullopt : std::optional(most));
}

void put_resources(Json& json, const std::optional<process::ResourceReport>& resources) {
  json.key("resources");
  if (!resources) {
    json.null();
    return;
  }
  json.open('{');
  number_or_null(json, "memory", resources->memory);
  put_most(json, "memory_max", resources->most_memory);
  number_or_null(json, "processes", resources->processes);
  put_most(json, "processes_max", resources->most_processes);
  put_most(json, "cpu_max", resources->most_cpu);
  json.key("memory_kills").number(resources->memory_kills);
  json.key("refused_forks").number(resources->refused_forks);
  json.key("problem").text_or_null(resources->problem).close('}');
}

void put_troubles(Json& json, const std::deque<process::Trouble>& troubles) {
  json.key("errors").open('[');
  for (const process::Trouble& trouble : troubles) {
    json.open('{').key("time").text(core::utc_stamp(trouble.when));
    json.key("text").text(trouble.what).close('}');
  }
  json.close(']');
}

void put_application(Json& json, const ApplicationStatus& application) {
  const process::ServiceReport& report = application.report;
  json.open('{').key("name").text(report.name).key("site").text(report.site);
  json.key("state").text(name(application.standing));
  json.key("phase").text(name(report.state));
  json.key("reason").text_or_null(application.reason);
  json.key("user").text_or_null(report.user ? report.user->name : "");
  json.key("preload").boolean(report.preloads);
  json.key("workers_wanted").number(report.wanted);
  json.key("workers_min").number(report.least).key("workers_max").number(report.most);
  json.key("workers_recycled").number(report.recycled);
  put_process(json, "zygote", application.parent);
  put_process(json, "base", application.base);
  json.key("workers").open('[');
  for (const WorkerStatus& worker : application.workers) put_worker(json, worker);
  json.close(']').key("processes").open('[');
  for (const CompanionStatus& companion : application.companions) put_companion(json, companion);
  json.close(']');
  put_deploy(json, report.deploy);
  put_resources(json, report.resources);
  put_troubles(json, report.troubles);
  json.close('}');
}

void put_pool(Json& json, const PoolStatus& pool) {
  json.open('{').key("name").text(pool.name).key("state").text(name(pool.standing));
  json.key("endpoints").open('[');
  for (const EndpointStatus& endpoint : pool.endpoints) {
    json.open('{').key("address").text(endpoint.address).key("state").text(name(endpoint.state));
    json.key("reason").text_or_null(endpoint.reason);
    json.key("running").number(endpoint.running).close('}');
  }
  json.close(']').close('}');
}

}  // namespace

std::string status_json(const Status& status) {
  std::string out;
  Json json(out);
  json.open('{').key("version").text(PORTICO_VERSION).key("state").text(name(status.standing));
  json.key("reasons").open('[');
  for (const std::string& reason : status.reasons) json.text(reason);
  json.close(']').key("stopping").boolean(status.stopping);
  put_age(json, status.age);
  put_process(json, "supervisor", status.supervisor);
  put_process(json, "front", status.front);
  json.key("front_answers").boolean(status.front_answers);
  json.key("sites").open('[');
  for (const SiteStatus& site : status.sites) put_site(json, site);
  json.close(']').key("applications").open('[');
  for (const ApplicationStatus& application : status.applications)
    put_application(json, application);
  json.close(']').key("pools").open('[');
  for (const PoolStatus& pool : status.pools) put_pool(json, pool);
  json.close(']').close('}');
  out.push_back('\n');
  return out;
}

}  // namespace portico::run
