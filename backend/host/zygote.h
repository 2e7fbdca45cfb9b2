// Zygote: the process of the site's own Python that has imported the application and forks workers
// (or, with `preload: false`, forks workers that import it).
//
// Owned by an ApplicationService, in the supervisor's thread. It runs the site's code: what it says
// is parsed strictly, and the process ids that it tells are believed only where the kernel agrees.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "backend/host/channels.h"
#include "backend/host/launch.h"
#include "backend/host/site_command.h"
#include "backend/record/control.h"
#include "conf/config.h"
#include "proxy/core/loop.h"
#include "proxy/net/channel.h"
#include "proxy/process/output.h"
#include "proxy/process/site_log.h"

namespace portico::backend {

class Zygote {
 public:
  /// Starts the interpreter and tells it what to import. `owner` is woken when it has said
  /// something or its output has ended.
  /// log  outlives it and its output
  static core::Result<std::unique_ptr<Zygote>> start(core::Active& owner,
                                                     const conf::Application& application,
                                                     const HostOptions& options,
                                                     const Launch& launch, const Channels& channels,
                                                     unsigned front_threads, bool multiprocess,
                                                     process::SiteLog& log);

  pid_t pid() const { return pid_; }
  /// The next thing it said; nothing: wait (or its channel has ended: its death is what wait says).
  std::optional<record::ControlMessage> hear();
  /// It does not read what it is told: it hangs, and is to be killed. True once.
  bool has_gone_deaf() { return control_.is_deaf() && !std::exchange(is_deaf_, true); }
  /// New channels for the workers forked from here on.
  void renew(const Channels& channels, unsigned front_threads);
  void fork(std::uint16_t worker, const WorkerEnds& ends);
  void stop();
  void kill(int signal);
  /// wait has told that it has ended; what is left of its output (that of its children too).
  std::unique_ptr<process::Output> ended();

 private:
  Zygote(core::Active& owner, core::Fd control, core::Fd output, process::Lines::Sink sink);
  void send(const record::ControlMessage& message, std::vector<int> fds);

  net::Channel control_;
  std::unique_ptr<process::Output> output_;
  pid_t pid_ = 0;
  bool is_deaf_ = false;
};

/// What an interpreter is told first: which application, where, for how many threads of the front.
record::ControlMessage setup_message(const conf::Application& application, unsigned front_threads,
                                     bool multiprocess);

/// Sends a control message with (borrowed) descriptors, those that find no room ahead of it.
void send_in_parts(net::Channel& channel, const record::ControlMessage& message,
                   std::span<const int> fds);

/// Whether `pid` is now a child of `parent`, as the kernel sees it.
bool is_child_of(pid_t pid, pid_t parent);

}  // namespace portico::backend
