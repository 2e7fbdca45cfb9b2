// Companion: a process of a site that serves no requests, such as the worker of a queue.
//
// Owned by Companions; the supervisor's thread. It runs as the site's workers do (user,
// environment, directory, limits), is started again with back-off whenever it ends, and is told to
// end by TERM, then KILL; both reach what it has started as well.
#pragma once

#include <sys/types.h>

#include <deque>
#include <memory>
#include <string>

#include "backend/host/site_command.h"
#include "conf/config.h"
#include "proxy/core/loop.h"
#include "proxy/core/timer.h"
#include "proxy/process/backoff.h"
#include "proxy/process/report.h"
#include "proxy/process/site_log.h"

namespace portico::backend {

class Companion {
 public:
  /// owner  is woken when it is time to call check()
  /// log    outlives it and its output
  Companion(core::Active& owner, const HostOptions& options, process::SiteLog& log,
            conf::Companion what);
  Companion(const Companion&) = delete;
  Companion& operator=(const Companion&) = delete;
  ~Companion();

  /// Starts it with this code; one that runs ends first, within this time.
  void run(std::shared_ptr<const conf::Application> code, core::Duration time_to_end);
  void stop(core::Time deadline);
  void check();  ///< what is due

  pid_t pid() const { return process_ == nullptr ? 0 : process_->pid(); }
  /// wait has told that it has ended. how  as a sentence goes on: "ended with status 1"
  void ended(const std::string& how);
  process::CompanionReport report() const;

 private:
  using State = process::CompanionReport::State;

  void start();
  void end_by(core::Time deadline);
  void enter(State state);
  void try_later(const std::string& why);

  core::Active& owner_;
  const HostOptions& options_;
  process::SiteLog& log_;
  const conf::Companion what_;
  std::shared_ptr<const conf::Application> code_;  // null: it is not wanted
  std::unique_ptr<SiteProcess> process_;
  std::deque<std::unique_ptr<process::Output>> outputs_;  // of those that have ended
  State state_ = State::waiting;
  core::Time since_;
  process::Backoff backoff_;
  core::Timer timer_;  // waiting: the next try; stopping: the kill
  core::Time kill_at_;
  unsigned ends_ = 0;
  std::string last_end_;
};

}  // namespace portico::backend
