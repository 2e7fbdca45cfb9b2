// Which interpreter runs an application: resolve_python() of conf/check.h.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <string_view>

#include "conf/check.h"
#include "conf/rights.h"

namespace portico::conf {
namespace {

// Debian's and most others' place; what remains to be named in a message when PATH has none.
constexpr const char* usual_python = "/usr/bin/python3";
constexpr const char* usual_path = "/usr/local/bin:/usr/bin:/bin";

bool is_directory(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

bool is_executable(const std::string& path) {
  return !is_directory(path) && access(path.c_str(), X_OK) == 0;
}

/// Workers of a root supervisor run as somebody else, who cannot reach what lies in root's home.
bool is_for_workers(const std::string& path) {
  const Identity anybody{"anybody", std::numeric_limits<uid_t>::max() - 1, {}, true};
  return geteuid() != 0 || may(anybody, path, Right::enter);
}

/// The first executable of that name in PATH, in absolute directories only; "" when there is none.
std::string find_in_path(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::string_view rest = path != nullptr ? path : usual_path;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    std::string candidate(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    candidate.append("/").append(name);
    const bool fits = is_executable(candidate) && is_for_workers(candidate);
    if (candidate.starts_with('/') && fits) return candidate;
  }
  return {};
}

std::string python_as_written(const std::string& python) {
  if (python.find('/') == std::string::npos) {
    const std::string command = find_in_path(python);
    return command.empty() ? "/usr/bin/" + python : command;
  }
  return is_directory(python) ? python + "/bin/python" : python;
}

}  // namespace

std::string resolve_python(const Application& application) {
  if (!application.python.empty()) return python_as_written(application.python);
  for (const char* name : {"/.venv", "/venv"}) {
    std::string candidate = application.directory + name + "/bin/python";
    if (is_executable(candidate)) return candidate;
  }
  const std::string python = find_in_path("python3");
  return python.empty() ? usual_python : python;
}

}  // namespace portico::conf
