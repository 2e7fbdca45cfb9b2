#include "proxy/run/exec_command.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <optional>

#include "conf/check.h"
#include "conf/environment_file.h"
#include "conf/load.h"
#include "conf/programs.h"
#include "conf/words.h"
#include "proxy/process/environment.h"
#include "proxy/process/limits.h"
#include "proxy/run/commands.h"

namespace portico::run {
namespace {

using conf::quoted;

// As POSIX shells have it (XCU 2.8.2).
constexpr int exit_not_executable = 126;
constexpr int exit_no_command = 127;

int complain(const std::string& what, int status = exit_failed) {
  std::cerr << "portico exec: " << what << '\n';
  return status;
}

std::string without_slash(std::string name) {
  if (name.ends_with('/')) name.pop_back();
  return name;
}

std::string known_names(const conf::Config& config) {
  std::vector<std::string_view> names;
  for (const conf::Application& application : config.applications)
    names.push_back(application.name);
  return names.empty() ? "it has no application" : "write " + conf::listed(names);
}

/// As the user of the site; who is not root stays.
std::string change_user(const std::optional<process::Identity>& identity) {
  if (!identity) return {};
  process::forbid_new_privileges();
  const auto done = process::become(*identity);
  return done ? "" : "becoming " + identity->name + ": " + core::describe(done.error());
}

std::string path_of(const std::vector<std::string>& environment) {
  for (const std::string& variable : environment)
    if (variable.starts_with("PATH=")) return variable.substr(5);
  return {};
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  all.reserve(texts.size() + 1);
  for (std::string& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

int execute(const conf::Application& application, std::vector<std::string> command,
            std::vector<std::string> environment) {
  const std::string typed = command.front();
  const std::string program = conf::find_program(application, typed, path_of(environment));
  if (typed == "python" || typed == "python3") command.front() = program;
  const std::vector<char*> words = pointers(command);
  std::vector<char*> variables = pointers(environment);
  ::environ = variables.data();
  if (!program.empty()) ::execvp(program.c_str(), words.data());  // with a slash: no search
  const int os = program.empty() ? ENOENT : errno;
  const bool missing = os == ENOENT;
  return complain(
      quoted(command.front()) + ": " +
          (missing ? "there is no such command in the site's PATH, nor here" : std::strerror(os)),
      missing ? exit_no_command : exit_not_executable);
}

// What the site's own words leave open is in its environment file. Returns what is wrong with that.
std::string add_secrets(conf::Application& application) {
  if (application.environment_file.empty()) return {};
  const auto secrets = conf::read_environment_file(application.environment_file);
  if (!secrets) return secrets.problem;
  application.environment.insert(application.environment.end(), secrets.value->begin(),
                                 secrets.value->end());
  return {};
}

int become_command(const conf::Config& config, conf::Application application,
                   const Options& options) {
  std::optional<process::Identity> identity;
  if (process::started_as_root()) {
    const std::string& user = application.user.empty() ? config.user : application.user;
    const auto found = process::front_identity(user);
    if (!found)
      return complain("there is no user " + quoted(user.empty() ? "nobody" : user) +
                      "; make it, or write another after \"user\"");
    identity = *found;
  }
  const std::string unread = add_secrets(application);
  if (!unread.empty()) return complain(unread);
  const auto environment = exec_environment(application, identity ? &*identity : nullptr);
  ::umask(022);  // as workers have it
  const std::string wrong = change_user(identity);
  if (!wrong.empty()) return complain(wrong);
  if (::chdir(application.directory.c_str()) != 0)
    return complain(conf::text(
        {application.directory_where, "the directory " + quoted(application.directory) + ": " +
                                          std::strerror(errno) + "; mend it, or write another"}));
  return execute(application, options.command, environment);
}

}  // namespace

const conf::Application* application_meant(const conf::Config& config, const std::string& name) {
  const conf::Application* of_site = nullptr;
  std::size_t count = 0;
  for (const conf::Application& application : config.applications) {
    if (without_slash(application.name) == without_slash(name)) return &application;
    if (application.site != name) continue;
    of_site = &application;
    ++count;
  }
  return count == 1 ? of_site : nullptr;
}

std::vector<std::string> exec_environment(const conf::Application& application,
                                          const process::Identity* identity) {
  auto environment = process::application_environment(application.environment, identity);
  if (const char* terminal = std::getenv("TERM"))
    environment.push_back(std::string("TERM=") + terminal);
  process::activate(environment, application);
  return environment;
}

int exec_command(const Options& options) {
  const conf::Loaded loaded = conf::load(conf::read_sources(options.file));
  for (const conf::Problem& problem : loaded.problems) std::cerr << conf::text(problem) << '\n';
  if (!loaded.problems.empty())
    return complain("mend " + options.file + " first, or name another with --config", exit_mistake);
  const conf::Application* application = application_meant(loaded.config, options.site);
  if (application == nullptr)
    return complain(options.file + " has no application " + quoted(options.site) + "; " +
                        known_names(loaded.config),
                    exit_mistake);
  return become_command(loaded.config, *application, options);
}

}  // namespace portico::run
