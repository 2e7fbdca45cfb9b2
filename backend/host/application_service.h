// ApplicationService: looks after the processes of one application: its zygote and its workers.
//
// Owned by the supervisor, in its thread. Tells its counterpart in the front
// (backend/front/application.h has the messages) what becomes of them. Every front gets channels of
// its own: what an earlier one sent and no worker has begun is taken back, and the earlier workers
// leave when they have finished.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "backend/host/channels.h"
#include "backend/host/hangs.h"
#include "backend/host/workers.h"
#include "backend/host/zygote.h"
#include "conf/config.h"
#include "proxy/core/loop.h"
#include "proxy/core/timer.h"
#include "proxy/process/backoff.h"
#include "proxy/process/service.h"

namespace portico::backend {

class ApplicationService final : public core::Active, public process::Service {
 public:
  /// supervisor  is woken when this service has stopped
  /// recent      of its site, shared with the site's other services
  ApplicationService(core::Active& supervisor, const conf::Application& application,
                     std::shared_ptr<const HostOptions> options,
                     std::shared_ptr<process::RecentLines> recent);
  ~ApplicationService() override;

  std::string_view name() const override { return application_.name; }
  void start() override {}  // the zygote starts with the first front: it needs its channels
  void front_up(process::FrontLink& link) override;
  void front_down() override;
  void hear(std::string_view text, std::vector<core::Fd> fds) override;
  bool child_ended(pid_t pid, int wait_status) override;
  void stop(core::Time deadline) override;
  bool stopped() const override;
  void reopen_logs() override {}  // its log is the supervisor's
  process::ServiceReport report() const override;
  process::RecentLines& recent_lines() override { return log_.recent(); }

  void advance() override;

 private:
  /// What the site is at the moment, as the front is told.
  enum class State { starting, ready, failed };

  void start_zygote();
  void hear_zygote();
  void hear_workers();
  void hear_worker(Worker& worker);
  void expect_end(Worker& worker);
  void on_zygote(const record::ControlMessage& message);
  void on_failed(std::string_view reason);
  void on_forked(const record::ControlMessage& message);
  void on_exited(const record::ControlMessage& message);
  void on_worker(Worker& worker, const record::ControlMessage& message);
  void on_leaving(Worker& worker);
  void on_hanging(Worker& worker, const record::ControlMessage& message);
  void on_unclaimed();
  bool is_idle(const Worker& worker) const;
  void replace_hanging(Worker& worker);
  void handle_hangs();
  void handle_hang(Hangs::Order order);
  void handle_slow_import(Hangs::Step step);
  void zygote_gone(int wait_status);
  void keep_output(std::unique_ptr<process::Output> output);
  void worker_gone(std::uint16_t number, std::string_view why);
  void replace(const Worker& worker);
  void fill();
  void fork_worker();
  void announce(const Worker& worker, const WorkerEnds& ends);
  void fail(std::string_view cause, std::string reason);
  void become(State state);
  void retry_later();
  void on_deadlines();
  void kill_workers(std::uint64_t oldest_kept);
  void kill_worker(const Worker& worker);
  bool is_ours(pid_t pid) const;
  void show_stacks(pid_t pid, pid_t tid);
  void tell(const record::ControlMessage& message, std::span<const int> fds = {});
  void tell_state();
  void tell_ready(const Worker& worker);
  void say(core::Level level, const std::string& text);

  core::Active& supervisor_;
  conf::Application application_;
  std::shared_ptr<const HostOptions> options_;
  process::SiteLog log_;  // before what writes into it
  process::FrontLink* front_ = nullptr;
  unsigned front_threads_ = 0;
  std::optional<Channels> channels_;
  std::uint64_t generation_ = 0;
  std::unique_ptr<Zygote> zygote_;
  bool imported_ = false;
  bool refused_ = false;                                  // it said that the import failed
  bool import_hangs_ = false;                             // it was killed for that
  std::deque<std::unique_ptr<process::Output>> outputs_;  // of earlier zygotes
  Workers workers_;
  Hangs hangs_;
  State state_ = State::starting;
  std::string cause_;
  std::string reason_;  // of State::failed, in a sentence
  process::Backoff zygote_backoff_;
  process::Backoff worker_backoff_;
  core::Timer retry_;  // start what is missing
  bool stopping_ = false;
  core::Timer stop_deadline_;
  core::Timer leavers_deadline_;  // of workers of an earlier front
  core::Timer refused_deadline_;  // of a zygote that could not import
};

}  // namespace portico::backend
