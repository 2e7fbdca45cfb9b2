// Zygote: the process of the site's own Python that has imported the application and forks workers
// (or, with `preload: false`, forks workers that import it). It starts by itself, or is forked from
// a base, which has imported what several sites share.
//
// Owned by a Release, in the supervisor's thread. It runs the site's code: what it says is parsed
// strictly, and the process ids that it tells are believed only where the kernel agrees.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "backend/host/birth.h"
#include "backend/host/channels.h"
#include "backend/host/engine_process.h"
#include "backend/host/launch.h"
#include "backend/host/site_command.h"
#include "backend/record/control.h"
#include "conf/config.h"
#include "proxy/core/loop.h"
#include "proxy/process/output.h"
#include "proxy/process/site_log.h"

namespace portico::backend {

class Zygote {
 public:
  /// Starts an interpreter for it. `owner` is woken when it has said something or its output has
  /// ended.
  /// log  outlives it and its output
  static core::Result<std::unique_ptr<Zygote>> start(core::Active& owner,
                                                     const conf::Application& application,
                                                     const HostOptions& options,
                                                     const Launch& launch, process::SiteLog& log);
  /// Has it made by a base (there must be options.bases): `owner` is also woken when birth() has
  /// changed.
  static core::Result<std::unique_ptr<Zygote>> ask_for(core::Active& owner,
                                                       const conf::Application& application,
                                                       const HostOptions& options,
                                                       const Launch& launch, process::SiteLog& log);

  pid_t pid() const { return process_->pid(); }  ///< 0: it is not born yet, or has ended
  /// What has become of the order to a base; null: it has an interpreter of its own.
  const Birth* birth() const { return birth_.get(); }

  /// It is there: tells it what to import, and for how many threads of the front.
  void set_up(const conf::Application& application, const Channels& channels,
              unsigned front_threads);
  /// The next thing it said; nothing: wait (or its channel has ended: its death is what wait says).
  std::optional<record::ControlMessage> hear() { return process_->hear(); }
  /// It does not read what it is told: it hangs, and is to be killed. True once.
  bool has_gone_deaf() { return process_->has_gone_deaf(); }
  /// New channels for the workers forked from here on.
  void renew(const Channels& channels, unsigned front_threads);
  void fork(std::uint16_t worker, const WorkerEnds& ends);
  void stop();
  void kill(int signal) const { process_->kill(signal); }
  /// wait has told that it has ended; what is left of its output (that of its children too).
  std::unique_ptr<process::Output> ended();

 private:
  Zygote(std::unique_ptr<EngineProcess> process, const Launch& launch)
      : process_(std::move(process)), is_private_(launch.identity.has_value()) {}
  void become(const std::string& site);

  std::unique_ptr<EngineProcess> process_;
  bool is_private_;
  std::unique_ptr<Birth> birth_;
  core::Fd environment_;  // of one from a base, until it has it
};

/// What an interpreter is told first: which application, where, for how many threads of the front.
record::ControlMessage setup_message(const conf::Application& application, unsigned front_threads,
                                     bool multiprocess);

/// Whether `pid` is now a child of `parent`, as the kernel sees it.
bool is_child_of(pid_t pid, pid_t parent);

}  // namespace portico::backend
