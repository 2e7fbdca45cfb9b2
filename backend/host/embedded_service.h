// EmbeddedService: looks after an application that runs inside the front process.
//
// Owned by the supervisor, in its thread. It finds the interpreter's library, makes the channels
// that workers have, and gives the front both ends; the interpreter in the front speaks the
// zygote's control messages with it (record/README.md, "Embedded"). It has no process but the
// probe's: the application dies with the front, and every front gets everything anew.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include "backend/host/channels.h"
#include "backend/host/interpreter_probe.h"
#include "backend/host/site_service.h"
#include "backend/host/zygote.h"
#include "proxy/core/timer.h"
#include "proxy/net/channel.h"
#include "proxy/process/backoff.h"

namespace portico::backend {

class EmbeddedService final : public SiteService {
 public:
  EmbeddedService(core::Active& supervisor, const conf::Application& application,
                  std::shared_ptr<const HostOptions> options,
                  std::shared_ptr<process::RecentLines> recent);
  ~EmbeddedService() override;

  void front_up(process::FrontLink& link) override;
  void front_down() override;
  void hear(std::string_view text, std::vector<core::Fd> fds) override;
  bool child_ended(pid_t pid, int wait_status) override;
  void stop(core::Time deadline) override;
  bool stopped() const override { return probe_ == nullptr || probe_->pid() == 0; }
  bool is_stillborn() const override {
    return state_ == State::failed && ready_since_ == core::Time{};
  }
  process::ServiceReport report() const override;
  /// Refused: its code lives in the front.
  void deploy(std::unique_ptr<process::Progress> progress) override;

  void advance() override;

 private:
  void look_for_library();
  void embed();
  void announce(const WorkerEnds& ends);
  void set_up(const Channels& channels, const WorkerEnds& ends, const core::Fd& output);
  void hear_interpreter();
  void on_interpreter(const record::ControlMessage& heard);
  void on_hanging(const record::ControlMessage& heard);
  void try_again();
  void fail(std::string_view cause, const std::string& reason);
  void tell(const record::ControlMessage& message, std::span<const int> fds = {});
  void tell_state(std::string_view state, std::string_view cause = {});
  void say(core::Level level, const std::string& text) { log_.say(level, text); }

  process::FrontLink* front_ = nullptr;
  std::uint64_t generation_ = 0;
  std::unique_ptr<InterpreterProbe> probe_;
  std::string library_;
  std::unique_ptr<net::Channel> control_;  // to the interpreter in the front
  std::uint64_t front_pid_ = 0;
  core::Time ready_since_;
  std::deque<std::unique_ptr<process::Output>> outputs_;  // of this front and of earlier ones
  process::Backoff backoff_;
  core::Timer retry_;
  bool stopping_ = false;
};

}  // namespace portico::backend
