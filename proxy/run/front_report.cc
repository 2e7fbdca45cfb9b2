#include "proxy/run/front_report.h"

#include <span>

#include "proxy/core/text.h"
#include "proxy/route/counters.h"
#include "proxy/route/live_pool.h"
#include "proxy/route/pools.h"
#include "proxy/run/parts.h"

namespace portico::run {
namespace {

using Words = std::vector<std::string_view>;

// More things than this are not of a configuration that load() takes.
constexpr std::size_t most_lines = 1'000'000;

Words split(std::string_view text, char at) {
  Words words;
  for (;;) {
    const auto end = text.find(at);
    words.push_back(text.substr(0, end));
    if (end == text.npos) return words;
    text.remove_prefix(end + 1);
  }
}

void add_line(std::string& out, std::initializer_list<std::string> words) {
  char separator = 0;
  for (const std::string& word : words) {
    if (separator != 0) out.push_back(separator);
    out.append(word);
    separator = '\t';
  }
  out.push_back('\n');
}

std::uint64_t number(std::string_view word) { return core::decimal(word).value_or(0); }

void parse_site(const Words& words, FrontReport& into) {
  FrontReport::Site site{std::string(words[1]), {}};
  if (words.size() != 2 + site.by_class.size()) return;
  for (std::size_t i = 0; i < site.by_class.size(); ++i) site.by_class[i] = number(words[2 + i]);
  into.sites.push_back(std::move(site));
}

void parse_line(const Words& words, FrontReport& into) {
  if (words.size() < 3) return;
  const std::string name(words[1]);
  if (words[0] == "site") parse_site(words, into);
  if (words[0] == "endpoint" && words.size() == 5)
    into.endpoints.push_back(
        {name, std::string(words[2]), std::string(words[3]), number(words[4])});
  if (words[0] == "application") into.applications.push_back({name, words[2] == "1"});
  if (words[0] == "worker" && words.size() == 4)
    into.workers.push_back({name, number(words[2]), number(words[3])});
}

void collect_sites(const conf::Config& config, const route::Counters& counters, FrontReport& into) {
  for (const conf::Site& site : config.sites) into.sites.push_back({site.name, {}});
  counters.for_each([&](const std::string& name, const route::SiteCounts& counts) {
    for (FrontReport::Site& site : into.sites) {
      if (site.name != name) continue;
      for (std::size_t i = 0; i < site.by_class.size(); ++i) site.by_class[i] = counts.by_class[i];
    }
  });
}

void collect_endpoints(const route::Pools& pools, core::Time now, FrontReport& into) {
  for (const auto& pool : pools.all()) {
    for (std::size_t member = 0; member < pool->size(); ++member) {
      const balancer::Endpoint& endpoint = pool->endpoint(member)->state();
      into.endpoints.push_back({pool->written().name, endpoint.name(),
                                std::string(balancer::name(endpoint.outage(now))),
                                endpoint.in_flight()});
    }
  }
}

}  // namespace

FrontReport collect(const conf::Config& config, const route::Pools& pools,
                    const route::Counters& counters, const Applications& applications,
                    core::Time now) {
  FrontReport report;
  collect_sites(config, counters, report);
  collect_endpoints(pools, now, report);
  for (const conf::Application& application : config.applications) {
    const ApplicationFacts facts = applications.facts(application.name);
    report.applications.push_back({application.name, facts.healthy});
    for (const ApplicationFacts::Worker& worker : facts.workers)
      report.workers.push_back({application.name, worker.number, worker.requests});
  }
  return report;
}

std::string format_report(const FrontReport& report) {
  std::string out;
  for (const auto& site : report.sites) {
    out.append("site\t").append(site.name);
    for (const std::uint64_t count : site.by_class) out.append("\t" + std::to_string(count));
    out.push_back('\n');
  }
  for (const auto& endpoint : report.endpoints)
    add_line(out, {"endpoint", endpoint.pool, endpoint.address, endpoint.outage,
                   std::to_string(endpoint.running)});
  for (const auto& application : report.applications)
    add_line(out, {"application", application.name, application.healthy ? "1" : "0"});
  for (const auto& worker : report.workers)
    add_line(out, {"worker", worker.application, std::to_string(worker.number),
                   std::to_string(worker.requests)});
  return out;
}

FrontReport parse_report(std::string_view text) {
  FrontReport report;
  std::size_t lines = 0;
  for (const std::string_view line : split(text, '\n')) {
    if (++lines > most_lines) break;
    parse_line(split(line, '\t'), report);
  }
  return report;
}

}  // namespace portico::run
