#include "backend/host/site_command.h"

#include <signal.h>
#include <unistd.h>

#include <utility>

#include "conf/check.h"
#include "conf/programs.h"
#include "proxy/process/environment.h"

namespace portico::backend {
namespace {

// When memory runs out, what serves one site ends before what serves all: as if it used 30 % of the
// memory more than it does.
constexpr int oom_score = 300;

// Processes and threads of a site's user: more than large sites have, few enough that a fork bomb
// leaves the machine to the others. Another user's limit may be used up already, so it is set only
// where we choose the user.
constexpr std::uint64_t most_processes = 1024;

process::Command command_of(const conf::Application& application, const Launch& launch,
                            const core::Fd& output) {
  process::Command command;
  command.environment = launch.environment;
  command.directory = application.directory;
  command.fds = {{output.get(), STDOUT_FILENO}, {output.get(), STDERR_FILENO}};
  command.identity = launch.identity;
  command.umask = 022;
  command.group = launch.group;
  command.oom_score = oom_score;
  if (launch.identity) command.processes = most_processes;
  return command;
}

}  // namespace

process::Command python_command(const conf::Application& application, const Launch& launch,
                                std::vector<std::string> arguments, const core::Fd& output) {
  process::Command command = command_of(application, launch, output);
  command.path = conf::resolve_python(application);
  command.arguments = std::move(arguments);
  command.arguments.insert(command.arguments.begin(), command.path);
  return command;
}

process::Command site_command(const conf::Application& application, const Launch& launch,
                              const std::vector<std::string>& words, const core::Fd& output) {
  process::Command command = command_of(application, launch, output);
  const std::string path = process::activate(command.environment, application);
  command.path = conf::find_program(application, words.front(), path);
  if (command.path.empty())
    command.path = words.front();  // the start will say that it is not there
  command.arguments = words;
  command.arguments.front() = command.path;  // where Python looks for itself, and its environment
  return command;
}

core::Result<std::unique_ptr<SiteProcess>> SiteProcess::start(core::Active& owner,
                                                              const conf::Application& application,
                                                              const HostOptions& options,
                                                              const std::vector<std::string>& words,
                                                              process::Lines::Sink sink) {
  auto ends = process::Output::pipe();
  if (!ends) return ends.error();
  const auto launch =
      prepare_launch(application, options.identity, options.groups.entrance(application.name));
  if (!std::holds_alternative<Launch>(launch))
    return core::Error{core::Fault::internal, 0, "preparing the site's user and environment"};
  auto pid =
      process::spawn(site_command(application, std::get<Launch>(launch), words, ends->childs));
  if (!pid) return pid.error();
  auto output = std::make_unique<process::Output>(owner, std::move(ends->ours), std::move(sink));
  return std::unique_ptr<SiteProcess>(new SiteProcess(*pid, std::move(output)));
}

void SiteProcess::kill(int signal) const {
  if (pid_ > 0) ::kill(-pid_, signal);
}

std::unique_ptr<process::Output> SiteProcess::ended() {
  pid_ = 0;
  return std::move(output_);
}

}  // namespace portico::backend
