#include "backend/host/embedded_check.h"

#include <sys/wait.h>

#include <optional>

#include "backend/host/interpreter_probe.h"
#include "proxy/process/identity.h"

namespace portico::backend {
namespace {

/// Runs the loop until the probe has a finding.
class Asking final : public core::Active {
 public:
  Asking(core::Loop& loop, const conf::Application& application, const process::Identity* identity)
      : Active(loop), probe_(*this, application, identity) {}

  void advance() override {
    if (probe_.finding()) loop().stop();
  }
  std::string problem() {
    loop().run();
    const pid_t child = probe_.pid();
    probe_.give_up();
    if (child != 0) ::waitpid(child, nullptr, 0);
    probe_.ended();
    return probe_.finding()->problem;
  }

 private:
  InterpreterProbe probe_;
};

std::optional<process::Identity> whom_the_front_becomes(const conf::Config& config) {
  if (!process::started_as_root()) return std::nullopt;
  auto identity = process::front_identity(config.user);
  if (!identity) return std::nullopt;  // which the check tells already
  return std::move(*identity);
}

}  // namespace

std::vector<conf::Problem> check_embedded(const conf::Config& config) {
  std::vector<conf::Problem> problems;
  const auto identity = whom_the_front_becomes(config);
  for (const conf::Application& application : config.applications) {
    if (!application.embedded) continue;
    core::Loop loop;
    Asking asking(loop, application, identity ? &*identity : nullptr);
    std::string problem = asking.problem();
    if (!problem.empty())
      problems.push_back({application.python_where, std::move(problem), conf::Severity::warning});
  }
  return problems;
}

}  // namespace portico::backend
