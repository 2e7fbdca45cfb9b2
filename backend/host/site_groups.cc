#include "backend/host/site_groups.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "conf/units.h"
#include "proxy/core/result.h"

namespace portico::backend {
namespace {

/// A limit by its key in `resources`, with the controller that keeps it.
struct Limit {
  std::string_view key;
  std::string controller;
  std::uint64_t conf::Resources::*member;
};

const std::array<Limit, 3> limits{{{"memory", "memory", &conf::Resources::memory},
                                   {"cpu", "cpu", &conf::Resources::cpu},
                                   {"processes", "pids", &conf::Resources::processes}}};

/// The keys that are wanted: "memory, cpu".
std::string keys_of(const conf::Resources& resources) {
  std::string keys;
  for (const Limit& limit : limits)
    if (resources.*limit.member != 0) keys += (keys.empty() ? "" : ", ") + std::string(limit.key);
  return keys;
}

std::vector<std::string> wanted_controllers(const conf::Config& config) {
  std::vector<std::string> wanted;
  for (const Limit& limit : limits) {
    const bool is_wanted =
        std::any_of(config.applications.begin(), config.applications.end(),
                    [&](const auto& one) { return one.resources.*limit.member != 0; });
    if (is_wanted) wanted.push_back(limit.controller);
  }
  return wanted;
}

std::string not_in_force(const std::string& keys, const std::string& why) {
  return "resources (" + keys + ") are not in force: " + why;
}

/// Takes out of `resources` what cannot be limited; returns why, or nothing.
template <class ProblemOf>
std::string take_out(conf::Resources& resources, ProblemOf problem_of) {
  std::map<std::string, conf::Resources> kept_back;  // by reason
  for (const Limit& limit : limits) {
    const std::string why =
        resources.*limit.member == 0 ? std::string() : problem_of(limit.controller);
    if (!why.empty()) std::swap(resources.*limit.member, kept_back[why].*limit.member);
  }
  std::string problem;
  for (const auto& [why, which] : kept_back)
    problem += (problem.empty() ? "" : ". ") + not_in_force(keys_of(which), why);
  return problem;
}

std::string problem_here(const process::CgroupPlace& place, conf::Resources resources) {
  if (!place.problem.empty() && place.is_certain)
    return not_in_force(keys_of(resources), place.problem);
  const std::vector<std::string> offered = process::cgroup_controllers(place.top);
  return take_out(resources, [&](const std::string& controller) {
    const bool is_there = std::find(offered.begin(), offered.end(), controller) != offered.end();
    return is_there ? std::string() : process::missing_controller(place.top);
  });
}

}  // namespace

SiteGroups::SiteGroups(const conf::Config& config, const process::CgroupPlace& place) {
  const std::vector<std::string> wanted = wanted_controllers(config);
  if (wanted.empty()) return;
  tree_ = process::CgroupTree::make(place, wanted, problem_);
  for (const conf::Application& application : config.applications)
    if (application.resources.any()) sites_.emplace(application.name, make(application));
}

SiteGroups::Site SiteGroups::make(const conf::Application& application) const {
  conf::Resources resources = application.resources;
  if (tree_ == nullptr) return {std::nullopt, not_in_force(keys_of(resources), problem_)};
  const std::string problem = take_out(
      resources, [this](const std::string& controller) { return tree_->problem_of(controller); });
  if (!resources.any()) return {std::nullopt, problem};
  auto group = tree_->add(application.name, resources);
  if (!group)
    return {std::nullopt, not_in_force(keys_of(resources), core::describe(group.error()))};
  return {std::move(*group), problem};
}

const process::Cgroup* SiteGroups::find(const std::string& application) const {
  const auto at = sites_.find(application);
  return at != sites_.end() && at->second.group ? &*at->second.group : nullptr;
}

int SiteGroups::entrance(const std::string& application) const {
  const process::Cgroup* group = find(application);
  return group != nullptr ? group->entrance() : -1;
}

process::MemoryKills SiteGroups::memory_kills(const std::string& application) const {
  const process::Cgroup* group = find(application);
  if (group == nullptr || group->limits().memory == 0) return process::MemoryKills();
  return {group->memory_events(), conf::size_text(group->limits().memory)};
}

std::optional<process::ResourceReport> SiteGroups::report(const std::string& application) const {
  const auto at = sites_.find(application);
  if (at == sites_.end()) return std::nullopt;
  process::ResourceReport report;
  report.problem = at->second.problem;
  if (!at->second.group) return report;
  const process::CgroupUsage usage = at->second.group->usage();
  const conf::Resources& most = at->second.group->limits();
  report.memory = usage.memory;
  report.processes = usage.processes;
  report.most_memory = most.memory;
  report.most_processes = most.processes;
  report.most_cpu = most.cpu;
  report.memory_kills = usage.memory_kills;
  report.refused_forks = usage.refused_forks;
  return report;
}

std::vector<conf::Problem> check_resources(const conf::Config& config) {
  std::vector<conf::Problem> problems;
  if (wanted_controllers(config).empty()) return problems;
  const process::CgroupPlace place = process::own_cgroup_place();
  for (const conf::Application& application : config.applications) {
    if (!application.resources.any()) continue;
    std::string problem = problem_here(place, application.resources);
    if (!problem.empty())
      problems.push_back(
          {application.resources.where, std::move(problem), conf::Severity::warning});
  }
  return problems;
}

}  // namespace portico::backend
