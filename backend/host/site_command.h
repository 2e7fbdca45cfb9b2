// Commands of a site: what is started with the site's own Python, user, directory and environment:
// its zygote, and what the operator wrote for it (before_deploy, processes).
//
// Pure values for process::spawn; the supervisor's thread. SiteProcess is one that runs; owned by
// whoever started it.
#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backend/host/launch.h"
#include "backend/host/site_groups.h"
#include "conf/config.h"
#include "proxy/core/fd.h"
#include "proxy/core/loop.h"
#include "proxy/core/result.h"
#include "proxy/process/output.h"
#include "proxy/process/spawn.h"

namespace portico::backend {

class Bases;

/// What every application of a configuration shares.
struct HostOptions {
  std::optional<process::Identity> identity;  ///< of sites that name no user; none: as we are
  std::string user_error;                     ///< why there is none though we are root
  core::Fd engine;                            ///< the engine module, a sealed memfd
  std::string engine_file;       ///< in its place, where executing a memfd is forbidden
  std::shared_ptr<Bases> bases;  ///< of `shared_imports`; null: each zygote starts by itself
  SiteGroups groups;             ///< of applications with limits of their own
};

/// The site's Python with these arguments (without argv[0]); `output` is its standard output and
/// error.
process::Command python_command(const conf::Application& application, const Launch& launch,
                                std::vector<std::string> arguments, const core::Fd& output);

/// A command as the operator wrote it, in the site's environment as if activated
/// (process/environment.h); its program is what conf/programs.h finds.
process::Command site_command(const conf::Application& application, const Launch& launch,
                              const std::vector<std::string>& words, const core::Fd& output);

class SiteProcess {
 public:
  /// sink  gets each line that it writes; owner is woken when its output has ended
  static core::Result<std::unique_ptr<SiteProcess>> start(core::Active& owner,
                                                          const conf::Application& application,
                                                          const HostOptions& options,
                                                          const std::vector<std::string>& words,
                                                          process::Lines::Sink sink);

  pid_t pid() const { return pid_; }
  void kill(int signal) const;  ///< its whole session: what it has started too
  /// wait has told that it has ended; what is left of its output.
  std::unique_ptr<process::Output> ended();

 private:
  SiteProcess(pid_t pid, std::unique_ptr<process::Output> output)
      : pid_(pid), output_(std::move(output)) {}

  pid_t pid_;
  std::unique_ptr<process::Output> output_;
};

}  // namespace portico::backend
