#include "conf/programs.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "conf/check.h"
#include "conf/words.h"

namespace portico::conf {
namespace {

constexpr std::string_view usual_path = "/usr/local/bin:/usr/bin:/bin";

std::string parent_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

bool is_python(const std::string& word) { return word == "python" || word == "python3"; }

bool is_program(const std::string& path) {
  struct stat facts {};
  return ::stat(path.c_str(), &facts) == 0 && S_ISREG(facts.st_mode) &&
         ::access(path.c_str(), X_OK) == 0;
}

std::string own_path(const Application& application) {
  for (const auto& [name, value] : application.environment)
    if (name == "PATH") return value;
  const char* ours = std::getenv("PATH");
  return std::string(ours != nullptr ? ours : usual_path);
}

/// Why a command cannot be run; empty: it can, or another finding says why not.
std::string problem_of(const Application& application, const Identity& user,
                       const std::string& word) {
  if (is_python(word)) return {};
  const std::string path = command_path(application, own_path(application));
  const std::string program = find_program(application, word, path);
  struct stat facts {};
  if (program.empty())
    return "there is no program " + quoted(word) + " in " + path +
           "; install it, or write its path or another";
  if (::stat(program.c_str(), &facts) != 0)
    return "there is no program " + quoted(program) + "; install it, or write another";
  if (S_ISREG(facts.st_mode) && may(user, program, Right::enter)) return {};
  return "the user " + quoted(user.name) + " may not run " + quoted(program) +
         "; mend its rights, or write another";
}

}  // namespace

std::string command_path(const Application& application, std::string_view path) {
  const std::string bin = parent_of(resolve_python(application));
  const std::string rest(path.empty() ? usual_path : path);
  const bool is_there = (":" + rest + ":").find(":" + bin + ":") != std::string::npos;
  const bool is_venv = ::access((parent_of(bin) + "/pyvenv.cfg").c_str(), F_OK) == 0;
  return is_there && !is_venv ? rest : bin + ":" + rest;
}

std::string find_program(const Application& application, const std::string& word,
                         std::string_view path) {
  if (is_python(word)) return resolve_python(application);
  if (word.find('/') != std::string::npos)
    return word.front() == '/' ? word : application.directory + "/" + word;
  for (std::size_t at = 0; at <= path.size();) {
    const std::size_t end = std::min(path.find(':', at), path.size());
    std::string candidate = std::string(path.substr(at, end - at)) + "/" + word;
    if (end > at && candidate.front() == '/' && is_program(candidate)) return candidate;
    at = end + 1;
  }
  return {};
}

std::vector<Problem> missing_programs(const Application& application, const Identity& user) {
  std::vector<Problem> found;
  const auto look = [&](const Position& where, const std::string& word) {
    std::string problem = problem_of(application, user, word);
    if (!problem.empty()) found.push_back({where, std::move(problem), Severity::warning});
  };
  for (const auto& command : application.before_deploy)
    look(application.before_deploy_where, command.front());
  for (const Companion& companion : application.companions)
    look(companion.where, companion.command.front());
  return found;
}

}  // namespace portico::conf
