// ApplicationService: looks after the processes of one application: its zygotes and their workers.
//
// Owned by the supervisor, in its thread. One release of the code is in use, or none while the
// application sleeps; a Deploy may bring the next one, and earlier ones finish what they run. It
// tells its counterpart in the front (counterpart.h) what becomes of them. Every front gets
// channels of its own: what an earlier one sent and no worker has begun is taken back, and the
// earlier workers leave when they have finished.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backend/host/channels.h"
#include "backend/host/code_watch.h"
#include "backend/host/companions.h"
#include "backend/host/counterpart.h"
#include "backend/host/deploy.h"
#include "backend/host/hangs.h"
#include "backend/host/recycling.h"
#include "backend/host/release.h"
#include "backend/host/site_service.h"
#include "backend/host/workers.h"
#include "proxy/core/timer.h"
#include "proxy/process/backoff.h"
#include "proxy/process/memory_kills.h"

namespace portico::backend {

class ApplicationService final : public SiteService, private Deploy::Site {
 public:
  ApplicationService(core::Active& supervisor, const conf::Application& application,
                     std::shared_ptr<const HostOptions> options,
                     std::shared_ptr<process::RecentLines> recent);
  ~ApplicationService() override;

  void start() override;
  void front_up(process::FrontLink& link) override;
  void front_down() override;
  void hear(std::string_view text, std::vector<core::Fd> fds) override;
  bool child_ended(pid_t pid, int wait_status) override;
  void stop(core::Time deadline) override;
  bool stopped() const override;
  bool is_stillborn() const override;
  process::ServiceReport report() const override;
  void deploy(std::unique_ptr<process::Progress> progress) override;

  void advance() override;

 private:
  /// What one process may say a turn, so that none that talks without end holds the supervisor.
  static constexpr int messages_a_turn = 64;
  /// How long workers of a front that is gone may finish what they run: nobody waits for the
  /// answers. And what others that leave may take for their own ending, atexit and all, after the
  /// last request.
  static constexpr core::Duration leavers_grace = std::chrono::seconds(30);

  // What the front says.
  void on_finished(std::uint64_t generation);
  void on_hanging(Worker& worker, const record::ControlMessage& message);
  void on_lost(const record::ControlMessage& message);
  void on_liar(const Worker& worker);

  // What zygotes say, and their deaths.
  void hear_zygote(Release& release);
  void on_zygote(Release& release, const record::ControlMessage& message);
  void on_imported(Release& release, const record::ControlMessage& message);
  void on_refused(Release& release, std::string_view reason);
  void on_forked(Release& release, const record::ControlMessage& message);
  void on_exited(Release& release, const record::ControlMessage& message);
  void zygote_gone(Release& release, const std::string& how);
  std::string why_not_forked() const;
  void current_gone(Release::State before, const std::string& how);
  void keep_output(std::unique_ptr<process::Output> output);

  // Zygotes that come from a base (application_births.cc).
  void await_birth(Release& release);
  bool may_begin_alone(const Release& release) const;
  void begin_alone(Release& release, std::string_view why);
  void could_not_begin(const Release& release, const Release::Failure& failure);
  void bury_lost();

  // Workers that import by themselves (application_preload.cc).
  void import_in_workers(Release& release);
  void tell_unfit(const Release& release, std::string_view unfit);
  void on_import_failed(Worker& worker, std::string_view reason);
  bool is_import_gone(const Worker& worker) const;
  void import_gone(const Worker& worker, std::string_view why);

  // What workers say, and their deaths.
  void hear_workers();
  void hear_worker(Worker& worker);
  void expect_end(Worker& worker);
  void on_worker(Worker& worker, const record::ControlMessage& message);
  void on_ready(Worker& worker);
  void on_leaving(Worker& worker);
  void on_unclaimed();
  bool is_idle(const Worker& worker) const;
  void replace_hanging(Worker& worker);
  void end_leftovers(const Worker& worker) const;
  void worker_gone(std::uint16_t number, std::string_view why);

  // What there should be.
  void start_code();
  void replace(const Worker& worker);
  void fill();
  bool wants_worker();
  void fork_worker(Release& release) override;
  void end_unready(Worker& worker);
  void send_away(Worker& worker, core::Time by);
  void fail(std::string_view cause, std::string reason);
  void refuse(std::string_view cause, std::string reason);
  void tell_failure(std::string_view cause, std::string reason);
  bool awaits_change() const;
  void refuse_requests();
  void become(State state);
  void retry_later();

  // How many workers there are, and how long (application_life.cc).
  void on_demand(std::uint64_t workers);
  void aim_low();
  void tend();
  void start_or_sleep();
  unsigned least() const;
  bool serves(Recycling::Id id);
  unsigned wanted();
  void trim();
  Worker& least_useful();
  void dismiss(Worker& worker);
  void note_missing();
  void exchange_worker();
  void rest();
  void watch_memory();
  core::Time drained_by() const;

  // A deploy (application_deploy.cc).
  void ask(Release& next, const std::string& target) override;
  void show_stacks(Release& next) override;
  void say(core::Level level, const std::string& text) override;
  bool has_code() const override { return served_.has_value(); }
  void settle_deploy();
  std::uint64_t switch_over(std::unique_ptr<Release> next);
  void end_switch();
  void put_away(std::unique_ptr<Release> next);
  bool is_next(std::uint64_t generation) const;

  // What hangs, and what is over its time (application_hangs.cc).
  void handle_hangs();
  void handle_hang(Hangs::Order order);
  void handle_slow_import(Hangs::Step step);
  void show_stacks(pid_t pid, pid_t tid);
  void on_deadlines();
  void kill_workers();
  void kill_worker(const Worker& worker);
  bool is_ours(const Worker& worker) const;

  bool is_present(const Worker& worker) const;
  bool is_known_to_front(const Worker& worker) const;
  bool any_ready() const;
  Release::Place next_place();
  Release::Place place_of(const Release& release);
  /// Also those that have ended, of which workers may live.
  std::vector<Release*> releases() const;
  Release* find_release(std::uint64_t number) const;
  void forget_past();

  Counterpart front_;
  process::MemoryKills memory_kills_;  // of all its processes
  Companions companions_;
  std::uint64_t last_generation_ = 0;
  std::uint64_t first_of_front_ = 0;         // the first generation this front knows
  std::optional<conf::Application> served_;  // the code that served last
  bool has_served_ = false;                  // whatever code
  std::unique_ptr<Release> current_;         // null: none runs
  std::vector<std::unique_ptr<Release>> past_;
  std::unique_ptr<Deploy> deploy_;
  std::unique_ptr<Deploy> switching_;  // well over, but front threads may still use the code before
  std::uint64_t switching_from_ = 0;
  std::optional<process::DeployReport> last_deploy_;
  bool changed_meanwhile_ = false;  // while that deploy ran
  CodeWatch code_watch_;
  bool import_hangs_ = false;                             // the current one was killed for that
  std::deque<std::unique_ptr<process::Output>> outputs_;  // of processes that have ended
  Workers workers_;
  Hangs hangs_;
  Recycling recycling_;
  unsigned recycled_ = 0;
  unsigned target_;         // how many workers there should be now
  std::string cause_;       // of State::failed, as the front is told
  std::string told_unfit_;  // what forbids to fork, as it was told last
  process::Backoff zygote_backoff_;
  process::Backoff worker_backoff_;
  core::Timer retry_;  // start what is missing
  bool stopping_ = false;
  core::Timer stop_deadline_;
  core::Timer ending_;  // the next zygote that must have ended
};

}  // namespace portico::backend
