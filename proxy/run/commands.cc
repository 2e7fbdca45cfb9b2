#include "proxy/run/commands.h"

#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <string>
#include <vector>

#include "conf/check.h"
#include "conf/load.h"
#include "proxy/run/control_commands.h"
#include "proxy/run/exec_command.h"
#include "proxy/run/find_application.h"
#include "proxy/run/front.h"
#include "proxy/run/help.h"
#include "proxy/run/supervisor.h"
#include "proxy/run/text_table.h"

namespace portico::run {
namespace {

// More than anybody mends before asking again.
constexpr std::size_t most_told = 200;

void print(const std::vector<conf::Problem>& problems) {
  const std::size_t told = std::min(problems.size(), most_told);
  for (std::size_t i = 0; i < told; ++i) std::cerr << conf::text(problems[i]) << '\n';
  if (told < problems.size()) std::cerr << "... and " << problems.size() - told << " more\n";
}

std::string counted(std::size_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

int refuse(const std::vector<conf::Problem>& problems, std::string_view consequence) {
  print(problems);
  std::cerr << "portico: " << counted(problems.size(), "mistake") << consequence << '\n';
  return exit_mistake;
}

int supervise_sources(const conf::Sources& sources, const Parts& parts, Stillbirth stillbirth) {
  const conf::Loaded loaded = conf::load(sources);
  if (!loaded.problems.empty()) return refuse(loaded.problems, "; nothing is started");
  return supervise(sources, loaded.config, parts, stillbirth);
}

std::string working_directory() {
  std::string path(4096, '\0');  // PATH_MAX
  const char* found = ::getcwd(path.data(), path.size());
  return found != nullptr ? found : "/";
}

int nothing_to_serve(const std::string& directory) {
  std::cerr << "portico: there is no application to be seen in " << directory
            << "; looked for Django's manage.py, wsgi.py, app.py and application.py.\n"
               "Name it: a module such as shop.wsgi, \"app:create_app()\", or a file such as "
               "app.py\n";
  return exit_mistake;
}

std::vector<std::pair<std::string, std::string>> own_environment() {
  std::vector<std::pair<std::string, std::string>> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const auto equals = text.find('=');
    if (equals != std::string_view::npos)
      variables.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  return variables;
}

int serve(const Options& options, const Parts& parts) {
  conf::ServeOptions serve = options.serve;
  serve.directory = working_directory();
  if (serve.reference.empty()) serve.reference = find_application(serve.directory);
  if (serve.reference.empty()) return nothing_to_serve(serve.directory);
  serve.pretty = wants_colours();
  serve.environment = own_environment();
  return supervise_sources(conf::serve_sources(serve), parts,
                           serve.reload ? Stillbirth::retries : Stillbirth::leaves);
}

std::vector<conf::Problem> all_missing(const conf::Config& config, const Parts& parts) {
  std::vector<conf::Problem> missing = conf::check_machine(config);
  if (!parts.missing) return missing;
  for (conf::Problem& problem : parts.missing(config)) missing.push_back(std::move(problem));
  return missing;
}

int check(const Options& options, const Parts& parts) {
  const conf::Loaded loaded = conf::load(conf::read_sources(options.file));
  if (!loaded.problems.empty()) return refuse(loaded.problems, "");
  if (options.effective) std::cout << conf::effective(loaded.config) << std::flush;
  const auto missing = all_missing(loaded.config, parts);
  print(missing);
  std::cerr << options.file << ": no mistakes; " << counted(loaded.config.sites.size(), "site")
            << ", " << counted(loaded.config.pools.size(), "pool") << ", "
            << counted(loaded.config.applications.size(), "application");
  if (!missing.empty())
    std::cerr << "; " << counted(missing.size(), "thing") << " missing on this machine";
  std::cerr << '\n';
  return missing.empty() ? exit_good : exit_failed;
}

int act(const Options& options, const Parts& parts) {
  switch (options.verb) {
    case Verb::run:
      return supervise_sources(conf::read_sources(options.file), parts, Stillbirth::retries);
    case Verb::check:
      return check(options, parts);
    case Verb::serve:
      return serve(options, parts);
    case Verb::status:
      return show_status(options);
    case Verb::logs:
      return show_logs(options);
    case Verb::deploy:
      return deploy_code(options);
    case Verb::stop:
      return stop_running(options);
    case Verb::exec:
      return exec_command(options);
    case Verb::version:
      std::cout << version_text << '\n';
      return exit_good;
    case Verb::front:
      return front_main(parts);
    case Verb::help:
      break;
  }
  std::cout << help_text(options.topic);
  return exit_good;
}

}  // namespace

int portico_main(int argc, char** argv, const Parts& parts) {
  const std::vector<std::string_view> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  const ParsedOptions parsed = parse_options(words);
  if (parsed.options) return act(*parsed.options, parts);
  std::cerr << "portico: " << parsed.problem << '\n';
  return exit_mistake;
}

}  // namespace portico::run
