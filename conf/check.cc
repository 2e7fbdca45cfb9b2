#include "conf/check.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>

#include "conf/environment_file.h"
#include "conf/programs.h"
#include "conf/rights.h"
#include "conf/words.h"

namespace portico::conf {
namespace {

/// Collects what is missing, each thing once however many sites ask for it.
class Findings {
 public:
  void add(const Position& where, const std::string& what) {
    const std::string key = where.file + ":" + std::to_string(where.line) + what;
    if (seen_.insert(key).second) problems_.push_back({where, what, Severity::warning});
  }
  std::vector<Problem> take() { return std::move(problems_); }

 private:
  std::set<std::string> seen_;
  std::vector<Problem> problems_;
};

std::string parent_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == 0 || slash == std::string::npos ? "/" : path.substr(0, slash);
}

bool exists(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0;
}

bool is_directory(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

/// The file that a reference names; "" for a module, and for what may be one (app.wsgi).
std::string file_of(const Application& application) {
  const std::string reference = application.reference.substr(0, application.reference.rfind(':'));
  const bool is_script = reference.ends_with(".wsgi") && reference.find('/') != std::string::npos;
  if (!reference.ends_with(".py") && !is_script) return {};
  return reference.starts_with('/') ? reference : application.directory + "/" + reference;
}

void check_directory(const Application& application, const Identity& user, Findings& findings) {
  const std::string& directory = application.directory;
  if (!is_directory(directory)) {
    findings.add(application.directory_where,
                 "there is no directory " + quoted(directory) +
                     "; make it, or write where the application lives");
  } else if (!may(user, directory, Right::enter)) {
    findings.add(application.directory_where, "the user " + quoted(user.name) + " may not enter " +
                                                  quoted(directory) +
                                                  "; mend the rights of it and of what is above");
  }
}

void check_file(const Application& application, const Identity& user, Findings& findings) {
  const std::string file = file_of(application);
  if (file.empty() || !is_directory(application.directory)) return;
  if (!exists(file)) {
    findings.add(application.where, "there is no file " + quoted(file) + "; write one that exists");
  } else if (!may(user, file, Right::read)) {
    findings.add(application.where, "the user " + quoted(user.name) + " may not read " +
                                        quoted(file) + "; mend its rights");
  }
}

void check_python(const Application& application, const Identity& user, Findings& findings) {
  const std::string python = resolve_python(application);
  if (!exists(python)) {
    findings.add(
        application.python_where,
        "there is no interpreter " + quoted(python) +
            "; install it, or write a virtual environment or interpreter after \"python\"");
  } else if (!may(user, python, Right::enter)) {
    findings.add(application.python_where, "the user " + quoted(user.name) + " may not run " +
                                               quoted(python) + "; mend its rights");
  }
}

/// False: there is nobody whose rights could be looked at.
bool check_user(const Application& application, const Identity& user, Findings& findings) {
  if (!user.is_known) {
    findings.add(application.user_where, "there is no user " + quoted(application.user) +
                                             "; make it with useradd(8), or write another");
  } else if (asks_too_much(application)) {
    findings.add(application.user_where, "only root can run workers as " +
                                             quoted(application.user) +
                                             "; start Portico as root, or take \"user\" out");
  }
  return user.is_known;
}

/// The supervisor reads it, so that its own rights count; nobody else should have any.
void check_environment_file(const Application& application, Findings& findings) {
  if (application.environment_file.empty()) return;
  const auto variables = read_environment_file(application.environment_file);
  if (!variables) return findings.add(application.environment_file_where, variables.problem);
  struct stat status {};
  if (stat(application.environment_file.c_str(), &status) != 0 || (status.st_mode & 004) == 0)
    return;
  findings.add(application.environment_file_where, "everybody may read " +
                                                       quoted(application.environment_file) +
                                                       ", which holds secrets; chmod 600");
}

void check_application(const Application& application, const Config& config, Findings& findings) {
  const Identity user = application_identity(config, application);
  check_environment_file(application, findings);
  if (!check_user(application, user, findings)) return;
  check_directory(application, user, findings);
  check_file(application, user, findings);
  check_python(application, user, findings);
  if (!is_directory(application.directory)) return;
  for (const Problem& problem : missing_programs(application, user))
    findings.add(problem.where, problem.what);
}

/// The supervisor opens the logs, so that its own rights count.
void check_log(const Log& log, const Position& where, Findings& findings) {
  if (log.access == "-" || log.access == "off") return;
  const std::string directory = parent_of(log.access);
  if (!is_directory(directory)) {
    findings.add(where, "there is no directory " + quoted(directory) +
                            " for the access log; make it, or write another path");
  } else if (access(directory.c_str(), W_OK) != 0 && access(log.access.c_str(), W_OK) != 0) {
    findings.add(where, "the access log " + quoted(log.access) + " cannot be written (" +
                            std::strerror(errno) + "); mend the rights or write another path");
  }
}

void check_spool(const Config& config, const Identity& user, Findings& findings) {
  const std::string& directory = config.spool.directory;
  if (!is_directory(directory)) {
    findings.add(config.spool.where, "there is no directory " + quoted(directory) +
                                         " for the spool; make it, or write another");
  } else if (!may(user, directory, Right::write)) {
    findings.add(config.spool.where, "the user " + quoted(user.name) + " may not write in " +
                                         quoted(directory) + "; mend its rights or write another");
  }
}

/// The supervisor binds, so that its own rights count.
void check_listener(const Listener& listener, Findings& findings) {
  if (!listener.address.is_unix()) return;
  const std::string directory = parent_of(listener.address.path);
  if (is_directory(directory) && access(directory.c_str(), W_OK) == 0) return;
  findings.add(listener.where, "no socket can be made in " + quoted(directory) + " (" +
                                   std::strerror(errno) + "); make it, or write another path");
}

/// Whether somebody listens is for the health checks to find out; here, whether there is a socket.
void check_endpoint(const Endpoint& endpoint, const Identity& user, Findings& findings) {
  if (!endpoint.address.is_unix()) return;
  const std::string& path = endpoint.address.path;
  if (!exists(path)) {
    findings.add(endpoint.where, "there is no socket " + quoted(path) +
                                     " yet; start what listens there, or write another address");
  } else if (!may(user, path, Right::write)) {
    findings.add(endpoint.where, "the user " + quoted(user.name) + " may not connect to " +
                                     quoted(path) + "; mend its rights");
  }
}

}  // namespace

std::vector<Problem> check_machine(const Config& config) {
  Findings findings;
  const Identity user = front_identity(config);  // one that is not known counts as root below
  if (!user.is_known) {
    findings.add(config.user_where, "there is no user " + quoted(config.user) +
                                        "; make it with useradd(8), or write another");
  }
  if (config.sites.empty()) {
    findings.add(config.where,
                 "no site is written, so that every request is answered 421; write "
                 "one under \"sites\"");
  }
  for (const Listener& listener : config.listeners) check_listener(listener, findings);
  check_spool(config, user, findings);
  check_log(config.log, config.log.where, findings);
  for (const Site& site : config.sites) check_log(site.log, site.log.where, findings);
  for (const Pool& pool : config.pools)
    for (const Endpoint& endpoint : pool.endpoints) check_endpoint(endpoint, user, findings);
  for (const Application& application : config.applications)
    check_application(application, config, findings);
  return findings.take();
}

}  // namespace portico::conf
