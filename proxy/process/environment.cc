#include "proxy/process/environment.h"

#include "proxy/process/spawn.h"

namespace portico::process {

// Of two values the first counts: what the operator wrote.
std::vector<std::string> application_environment(
    std::vector<std::pair<std::string, std::string>> added, const Identity* identity) {
  std::vector<std::string> hidden = {"NOTIFY_SOCKET",  "LISTEN_FDS",    "LISTEN_PID",
                                     "LISTEN_FDNAMES", "WATCHDOG_USEC", "WATCHDOG_PID"};
  if (identity != nullptr) {
    added.insert(added.end(),
                 {{"HOME", identity->home}, {"USER", identity->name}, {"LOGNAME", identity->name}});
  }
  for (const auto& [name, value] : added) hidden.push_back(name);
  std::vector<std::string> environment = environment_without(hidden);
  for (const auto& [name, value] : added) environment.push_back(name + "=" + value);
  return environment;
}

}  // namespace portico::process
