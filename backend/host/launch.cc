#include "backend/host/launch.h"

#include <sys/stat.h>
#include <unistd.h>

#include <utility>

#include "conf/environment_file.h"
#include "proxy/core/result.h"
#include "proxy/process/environment.h"

namespace portico::backend {
namespace {

using Verdict = std::optional<Refusal>;

bool is_directory(const std::string& path) {
  struct stat facts {};
  return ::stat(path.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode);
}

Verdict choose_identity(const conf::Application& application,
                        const std::optional<process::Identity>& usual, Launch& launch) {
  launch.identity = usual;
  if (application.user.empty()) return {};
  auto found = process::find_identity(application.user);
  if (!found) {
    return Refusal{"user", "there is no user \"" + application.user + "\" (" +
                               core::describe(found.error()) +
                               "); make it with useradd(8), or write another"};
  }
  if (process::started_as_root()) {
    launch.identity = std::move(*found);
  } else if (found->user != ::geteuid()) {
    return Refusal{"user", "it is to run as \"" + application.user +
                               "\", which only root can do; start Portico as root, or take "
                               "\"user\" out"};
  }
  return {};
}

// Of two values of a name the first counts: the site's own words before those of its file.
Verdict choose_environment(const conf::Application& application, Launch& launch) {
  conf::Variables variables = application.environment;
  if (!application.environment_file.empty()) {
    auto secrets = conf::read_environment_file(application.environment_file);
    if (!secrets) return Refusal{"environment", secrets.problem};
    variables.insert(variables.end(), secrets.value->begin(), secrets.value->end());
  }
  launch.environment =
      process::application_environment(variables, launch.identity ? &*launch.identity : nullptr);
  return {};
}

}  // namespace

std::optional<process::Identity> identity_of(const conf::Application& application,
                                             const std::optional<process::Identity>& usual) {
  Launch launch;
  return choose_identity(application, usual, launch) ? std::nullopt : launch.identity;
}

std::variant<Launch, Refusal> prepare_launch(const conf::Application& application,
                                             const std::optional<process::Identity>& usual,
                                             int group) {
  if (!is_directory(application.directory))
    return Refusal{"directory", "there is no directory " + application.directory};
  Launch launch;
  launch.group = group;
  Verdict refusal = choose_identity(application, usual, launch);
  if (!refusal) refusal = choose_environment(application, launch);
  if (refusal) return std::move(*refusal);
  return launch;
}

}  // namespace portico::backend
