#include "proxy/run/status_text.h"

#include <array>
#include <cstdio>
#include <numeric>

#include "proxy/core/text.h"
#include "proxy/run/help.h"
#include "proxy/run/text_table.h"

namespace portico::run {
namespace {

using Cell = TextTable::Cell;

Tint tint_of(Standing standing) {
  if (standing == Standing::well) return Tint::good;
  return standing == Standing::down ? Tint::bad : Tint::fair;
}

Tint tint_of(EndpointStatus::State state) {
  if (state == EndpointStatus::State::up) return Tint::good;
  return state == EndpointStatus::State::down ? Tint::bad : Tint::fair;
}

Tint tint_of(process::WorkerReport::State state) {
  return state == process::WorkerReport::State::ready ? Tint::good : Tint::fair;
}

Tint tint_of(const process::CompanionReport& report) {
  if (report.is_failing) return Tint::bad;
  return report.state == process::CompanionReport::State::running ? Tint::good : Tint::fair;
}

Cell cell(Standing standing) { return {std::string(name(standing)), tint_of(standing)}; }
Cell heading(std::string text) { return {std::move(text), Tint::heading}; }

std::string memory_text(const std::optional<process::Memory>& memory) {
  return memory ? size_text(memory->bytes) : "-";
}

std::string process_text(const ProcessStatus& process) {
  if (process.pid == 0) return "is not running";
  return "process " + std::to_string(process.pid) + ", " + memory_text(process.memory);
}

std::string requests_text(const SiteStatus& site) {
  if (!site.requests) return "";
  const auto& by_class = *site.requests;
  const std::uint64_t all = std::accumulate(by_class.begin(), by_class.end(), std::uint64_t{0});
  std::string text = std::to_string(all) + (all == 1 ? " request" : " requests");
  if (by_class[5] != 0) text += ", " + std::to_string(by_class[5]) + " of them 5xx";
  return text;
}

std::string deploy_text(const process::DeployReport& deploy) {
  using State = process::DeployReport::State;
  const std::string since = core::utc_stamp(deploy.since);
  if (deploy.state == State::done) return "deployed " + since;
  if (deploy.state == State::running)
    return "a deploy runs since " + core::utc_stamp(deploy.began) + ": " + deploy.step + " since " +
           since;
  return "the last deploy failed " + since + ", " + deploy.step + ": " + deploy.reason +
         "; the old code stays";
}

std::string share_text(const std::string& used, const std::string& most) {
  return most.empty() ? used : used + " of " + most;
}

std::string resources_text(const process::ResourceReport& resources) {
  std::vector<std::string> parts;
  if (resources.memory)
    parts.push_back("memory " +
                    share_text(size_text(*resources.memory),
                               resources.most_memory == 0 ? "" : size_text(resources.most_memory)));
  if (resources.processes)
    parts.push_back("processes " + share_text(std::to_string(*resources.processes),
                                              resources.most_processes == 0
                                                  ? ""
                                                  : std::to_string(resources.most_processes)));
  if (resources.most_cpu != 0) parts.push_back("cpu " + std::to_string(resources.most_cpu) + "%");
  if (resources.memory_kills != 0)
    parts.push_back("killed for lack of memory " + std::to_string(resources.memory_kills));
  if (resources.refused_forks != 0)
    parts.push_back("forks refused " + std::to_string(resources.refused_forks));
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "uses " : ", ") + part;
  return text;
}

class Page {
 public:
  explicit Page(Colours colours) : coloured_(colours == Colours::yes) {}

  std::string take() { return std::move(out_); }

  void whole(const Status& status) {
    out_ += std::string(version_text) + " is " + tinted(cell(status.standing)) + ": " +
            process_text(status.supervisor) + ", up " + age_text(status.age) + "\n";
    for (const std::string& reason : status.reasons) out_ += "  " + reason + "\n";
    out_ += "front " + process_text(status.front) + "\n";
  }

  void site(const SiteStatus& site) {
    title("site " + site.name, site.standing, requests_text(site));
    TextTable table;
    for (const RouteStatus& route : site.routes)
      table.row({{route.path}, {(route.is_application ? "application " : "pool ") + route.target}});
    put(table);
  }

  void application(const ApplicationStatus& application) {
    const process::ServiceReport& report = application.report;
    title("application " + report.name, application.standing, application.reason);
    out_ += "  zygote " + process_text(application.parent);
    if (report.user) out_ += ", user " + report.user->name;
    if (report.base != 0) out_ += "; shared imports in " + process_text(application.base);
    if (!report.preloads) out_ += "; each worker imports by itself";
    out_ += "\n";
    if (report.resources) resources(*report.resources);
    if (report.deploy) out_ += "  " + deploy_text(*report.deploy) + "\n";
    life(report);
    if (!application.workers.empty()) workers(application.workers);
    if (!application.companions.empty()) companions(application.companions);
    for (const process::Trouble& trouble : report.troubles)
      out_ += "  " + core::utc_stamp(trouble.when) + " " + trouble.what + "\n";
  }

  void pool(const PoolStatus& pool) {
    title("pool " + pool.name, pool.standing, "");
    TextTable table;
    table.row({{"ENDPOINT"}, {"STATE"}, {"RUNNING"}, {"REASON"}});
    for (const EndpointStatus& endpoint : pool.endpoints)
      table.row({{endpoint.address},
                 {std::string(name(endpoint.state)), tint_of(endpoint.state)},
                 {std::to_string(endpoint.running)},
                 {endpoint.reason}});
    put(table);
  }

 private:
  std::string tinted(const Cell& cell) const {
    return run::tinted(cell.text, cell.tint, coloured_);
  }

  void title(const std::string& text, Standing standing, const std::string& reason) {
    out_ += "\n" + tinted(heading(text)) + " is " + tinted(cell(standing));
    if (!reason.empty()) out_ += ": " + reason;
    out_ += "\n";
  }

  void put(const TextTable& table) { table.append_to(out_, "  ", coloured_); }

  void companions(const std::vector<CompanionStatus>& companions) {
    TextTable table;
    table.row({{"COMPANION"}, {"STATE"}, {"PROCESS"}, {"AGE"}, {"MEMORY"}, {"ENDS"}, {"LAST END"}});
    for (const CompanionStatus& companion : companions) {
      const process::CompanionReport& report = companion.report;
      table.row({{report.name},
                 {std::string(name(report.state)), tint_of(report)},
                 {report.pid == 0 ? "-" : std::to_string(report.pid)},
                 {age_text(report.age)},
                 {memory_text(companion.memory)},
                 {std::to_string(report.ends)},
                 {report.last_end.empty() ? "-" : report.last_end}});
    }
    put(table);
  }

  void resources(const process::ResourceReport& report) {
    const std::string text = resources_text(report);
    if (!text.empty()) out_ += "  " + text + "\n";
    if (!report.problem.empty()) out_ += "  " + report.problem + "\n";
  }

  void life(const process::ServiceReport& report) {
    if (report.state == process::ServiceReport::State::sleeping)
      out_ += "  sleeping; a request starts it\n";
    if (report.least != report.most)
      out_ += "  workers " + std::to_string(report.wanted) + ", from " +
              std::to_string(report.least) + " to " + std::to_string(report.most) + "\n";
    if (report.recycled != 0)
      out_ += "  workers recycled " + std::to_string(report.recycled) + "\n";
    for (const process::WorkerReport& worker : report.workers)
      if (!worker.due.empty())
        out_ += "  worker " + std::to_string(worker.number) + " is recycled " + worker.due + "\n";
  }

  void workers(const std::vector<WorkerStatus>& workers) {
    TextTable table;
    table.row({{"WORKER"}, {"STATE"}, {"PROCESS"}, {"AGE"}, {"MEMORY"}, {"REQUESTS"}});
    for (const WorkerStatus& worker : workers)
      table.row({{std::to_string(worker.report.number)},
                 {std::string(name(worker.report.state)), tint_of(worker.report.state)},
                 {worker.report.pid == 0 ? "-" : std::to_string(worker.report.pid)},
                 {age_text(worker.report.age)},
                 {memory_text(worker.memory)},
                 {worker.requests ? std::to_string(*worker.requests) : "-"}});
    put(table);
  }

  bool coloured_;
  std::string out_;
};

std::string pair_of(std::int64_t large, const char* large_unit, std::int64_t small,
                    const char* small_unit) {
  return std::to_string(large) + large_unit + " " + std::to_string(small) + small_unit;
}

}  // namespace

std::string status_text(const Status& status, Colours colours) {
  Page page(colours);
  page.whole(status);
  for (const SiteStatus& site : status.sites) page.site(site);
  for (const ApplicationStatus& application : status.applications) page.application(application);
  for (const PoolStatus& pool : status.pools) page.pool(pool);
  return page.take();
}

std::string age_text(core::Duration age) {
  const std::int64_t seconds = std::chrono::duration_cast<std::chrono::seconds>(age).count();
  const std::int64_t minutes = seconds / 60;
  const std::int64_t hours = minutes / 60;
  if (minutes == 0) return std::to_string(seconds) + "s";
  if (hours == 0) return pair_of(minutes, "m", seconds % 60, "s");
  if (hours < 48) return pair_of(hours, "h", minutes % 60, "m");
  return pair_of(hours / 24, "d", hours % 24, "h");
}

std::string size_text(std::uint64_t bytes) {
  if (bytes < 1024) return std::to_string(bytes) + " B";
  static constexpr std::array<const char*, 4> units = {"KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < units.size(); ++unit) value /= 1024;
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "%.1f %s", value, units[unit]);
  return text.data();
}

}  // namespace portico::run
