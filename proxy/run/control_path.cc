#include "proxy/run/control_path.h"

#include <unistd.h>

#include <cstdlib>

#include "proxy/process/identity.h"

namespace portico::run {

std::string control_path(const conf::Config& config) {
  if (config.control == "off") return {};
  if (!config.control.empty()) return config.control;
  if (process::started_as_root() || config.run_directory != conf::Config().run_directory)
    return config.run_directory + "/control.sock";
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");  // XDG Base Directory Specification 0.8
  if (runtime != nullptr && runtime[0] == '/')
    return std::string(runtime) + "/portico/control.sock";
  return "/tmp/portico-" + std::to_string(::geteuid()) + "/control.sock";
}

std::string control_path_to_ask(const conf::Config& config) {
  std::string own = control_path(config);
  if (!config.control.empty() || ::access(own.c_str(), F_OK) == 0) return own;
  std::string roots = config.run_directory + "/control.sock";
  return ::access(roots.c_str(), F_OK) == 0 ? roots : own;
}

}  // namespace portico::run
