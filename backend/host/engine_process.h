// EngineProcess: an interpreter that runs our engine, a zygote or a base: its process, its control
// socket, its output.
//
// Owned by a Zygote or a Base; the supervisor's thread. It runs the site's code: what it says is
// parsed strictly. The messages are in record/README.md.
#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "backend/host/site_command.h"
#include "backend/record/control.h"
#include "proxy/core/loop.h"
#include "proxy/net/channel.h"
#include "proxy/process/output.h"

namespace portico::backend {

class EngineProcess {
 public:
  /// The process's ends: what it has as its control socket, and as standard output and error.
  struct Ends {
    core::Fd control;
    core::Fd output;
  };

  /// Both sides of the channels. There is no process yet.
  ///
  /// owner  is woken when it has said something or its output has ended
  /// sink   gets what it writes, line by line
  static core::Result<std::unique_ptr<EngineProcess>> prepare(core::Active& owner,
                                                              process::Lines::Sink sink,
                                                              Ends& ends);

  /// Starts the site's Python with the engine.
  ///
  /// name  what `ps` shows of it
  core::Result<void> start(const conf::Application& application, const HostOptions& options,
                           const Launch& launch, const Ends& ends, const std::string& name);
  /// Somebody else has made it.
  void made(pid_t pid) { pid_ = pid; }

  pid_t pid() const { return pid_; }  ///< 0: there is none
  /// The next thing it said; nothing: wait (or its channel has ended: its death is what wait says).
  std::optional<record::ControlMessage> hear();
  /// It does not read what it is told. True once.
  bool has_gone_deaf() { return control_.is_deaf() && !std::exchange(is_deaf_, true); }
  /// With (borrowed) descriptors.
  void send(const record::ControlMessage& message, std::span<const int> fds = {});
  void kill(int signal) const;
  /// wait has told that it has ended; what is left of its output (that of its children too).
  std::unique_ptr<process::Output> ended();

 private:
  EngineProcess(core::Active& owner, core::Fd control, core::Fd output, process::Lines::Sink sink);

  net::Channel control_;
  std::unique_ptr<process::Output> output_;
  pid_t pid_ = 0;
  bool is_deaf_ = false;
};

/// Sends a control message with (borrowed) descriptors, those that find no room ahead of it.
void send_in_parts(net::Channel& channel, const record::ControlMessage& message,
                   std::span<const int> fds);

}  // namespace portico::backend
