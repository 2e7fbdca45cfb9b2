#include "backend/host/companions.h"

#include <algorithm>

namespace portico::backend {
namespace {

// What a companion may take at a deploy to finish what it is at: as systemd's
// DefaultTimeoutStopSec.
constexpr auto time_to_end = std::chrono::seconds(90);

}  // namespace

Companions::Companions(core::Active& owner, const conf::Application& application,
                       const HostOptions& options, process::SiteLog& log) {
  for (const conf::Companion& what : application.companions)
    all_.push_back(std::make_unique<Companion>(owner, options, log, what));
}

void Companions::begin(const conf::Application& code) {
  if (!has_begun_) renew(code);
}

void Companions::renew(const conf::Application& code) {
  if (is_stopping_) return;
  has_begun_ = true;
  const auto shared = std::make_shared<const conf::Application>(code);
  for (auto& one : all_) one->run(shared, time_to_end);
}

void Companions::stop(core::Time deadline) {
  is_stopping_ = true;
  for (auto& one : all_) one->stop(deadline);
}

bool Companions::stopped() const {
  return std::all_of(all_.begin(), all_.end(), [](const auto& one) { return one->pid() == 0; });
}

void Companions::check() {
  for (auto& one : all_) one->check();
}

bool Companions::child_ended(pid_t pid, int wait_status, process::MemoryKills& kills) {
  for (auto& one : all_) {
    if (one->pid() != pid) continue;
    one->ended(kills.describe(wait_status));
    return true;
  }
  return false;
}

std::vector<process::CompanionReport> Companions::report() const {
  std::vector<process::CompanionReport> reports;
  for (const auto& one : all_) reports.push_back(one->report());
  return reports;
}

}  // namespace portico::backend
