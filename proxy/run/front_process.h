// FrontProcess: the front as the supervisor sees it: starts it, tells it what to do, restarts it
// when it dies.
//
// Owned by the supervisor; its thread. What a front is given (configuration, sockets, logs) belongs
// to the supervisor and outlives every front. Messages: front_message.h.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "proxy/core/fd.h"
#include "proxy/core/loop.h"
#include "proxy/core/timer.h"
#include "proxy/net/channel.h"
#include "proxy/process/backoff.h"
#include "proxy/process/service.h"
#include "proxy/run/access_logs.h"
#include "proxy/run/bound_listener.h"

namespace portico::run {

class FrontProcess final : public core::Active, public process::FrontLink {
 public:
  /// What every front gets.
  struct Gifts {
    const core::Fd& sources;  ///< sources_file.h
    const std::vector<BoundListener>& listeners;
    const AccessLogs& logs;
    unsigned threads;
    std::vector<std::string> environment;
  };

  /// Hears what becomes of the front; outlives it.
  class Owner {
   public:
    virtual void front_started() = 0;  ///< it has been told everything; services may speak to it
    virtual void front_ready() = 0;    ///< it listens
    virtual void front_ended() = 0;    ///< gone() tells whether another one will come
    virtual void front_said(std::string_view service, std::string_view text,
                            std::vector<core::Fd> fds) = 0;
    /// What it knows, as ask() wanted: front_report.h.
    virtual void front_reported(std::string_view serial, std::string_view text) = 0;

   protected:
    ~Owner() = default;
  };

  FrontProcess(core::Loop& loop, Owner& owner, Gifts gifts);

  void start();
  /// No other front is started; the one there finishes what runs within `time`, and leaves.
  void drain(core::Duration time);
  void kill();  ///< at once; no other is started
  bool child_ended(pid_t pid, int wait_status);
  bool gone() const { return ending_ && pid_ == 0; }
  bool ask(std::uint64_t serial);  ///< for a report; false: there is no front
  pid_t pid() const { return pid_; }
  void send_logs();  ///< new descriptors, after a rotation

  // FrontLink
  void tell(std::string_view service, std::string_view text, std::span<const int> fds) override;
  unsigned front_threads() const override { return gifts_.threads; }

  void advance() override;

 private:
  bool spawn();
  void tell_everything();
  void send_listener(const BoundListener& listener);
  void hear();
  void end_deaf();
  void restart_later(const std::string& what_happened);

  Owner& owner_;
  Gifts gifts_;
  pid_t pid_ = 0;        // 0: there is none
  bool ending_ = false;  // after drain() or kill()
  std::unique_ptr<net::Channel> channel_;
  process::Backoff backoff_;
  core::Timer restart_;
};

}  // namespace portico::run
