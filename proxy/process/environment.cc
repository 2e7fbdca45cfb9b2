#include "proxy/process/environment.h"

#include <unistd.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "conf/check.h"
#include "conf/programs.h"

namespace portico::process {
namespace {

using Variables = std::vector<std::pair<std::string, std::string>>;

void add(Variables& variables, std::string_view name, std::string_view value) {
  const bool there = std::any_of(variables.begin(), variables.end(),
                                 [&](const auto& entry) { return entry.first == name; });
  if (!there) variables.emplace_back(name, value);
}

// LC_ALL and its like; and what a sanitizer in our own build is told.
bool is_of_the_machine(std::string_view name) {
  constexpr std::string_view names[] = {"PATH", "LANG", "LANGUAGE", "TZ"};
  return std::find(std::begin(names), std::end(names), name) != std::end(names) ||
         name.starts_with("LC_") || name.ends_with("SAN_OPTIONS");
}

bool is_of_the_user(std::string_view name) {
  return name == "HOME" || name == "USER" || name == "LOGNAME";
}

/// The value of a variable among "NAME=value"; taken out.
std::optional<std::string> take(std::vector<std::string>& environment, std::string_view name) {
  const auto at = std::find_if(environment.begin(), environment.end(), [&](const auto& each) {
    return each.size() > name.size() && each.starts_with(name) && each[name.size()] == '=';
  });
  if (at == environment.end()) return std::nullopt;
  std::string value = at->substr(name.size() + 1);
  environment.erase(at);
  return value;
}

std::string parent_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

}  // namespace

std::string activate(std::vector<std::string>& environment, const conf::Application& application) {
  std::string path =
      conf::command_path(application, take(environment, "PATH").value_or(std::string()));
  environment.push_back("PATH=" + path);
  const std::string venv = parent_of(parent_of(conf::resolve_python(application)));
  if (::access((venv + "/pyvenv.cfg").c_str(), F_OK) != 0) return path;
  take(environment, "VIRTUAL_ENV");
  take(environment, "PYTHONHOME");
  environment.push_back("VIRTUAL_ENV=" + venv);
  return path;
}

std::vector<std::string> application_environment(const Variables& wanted,
                                                 const Identity* identity) {
  Variables variables;
  for (const auto& [name, value] : wanted) add(variables, name, value);
  if (identity != nullptr) {
    add(variables, "HOME", identity->home);
    add(variables, "USER", identity->name);
    add(variables, "LOGNAME", identity->name);
  }
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const auto equals = std::min(text.find('='), text.size() - 1);
    const std::string_view name = text.substr(0, equals);
    if (is_of_the_machine(name) || (identity == nullptr && is_of_the_user(name)))
      add(variables, name, text.substr(equals + 1));
  }
  std::vector<std::string> environment;
  environment.reserve(variables.size());
  for (const auto& [name, value] : variables)
    environment.push_back(std::string(name).append("=").append(value));
  return environment;
}

}  // namespace portico::process
