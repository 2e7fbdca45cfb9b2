// Deploy: new code of one application on its way into use: import, hooks, first worker, warm-up.
//
// Owned by an ApplicationService, in the supervisor's thread, which tells it what happens and does
// what it asks for; it decides and touches only its release and its hooks. When it is over the
// service takes the release: into use, or away. The old code serves all the while.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "backend/host/release.h"
#include "backend/host/site_command.h"
#include "proxy/core/loop.h"
#include "proxy/core/timer.h"
#include "proxy/process/memory_kills.h"
#include "proxy/process/progress.h"
#include "proxy/process/report.h"

namespace portico::backend {

class Deploy {
 public:
  /// importing  the interpreter runs the new code for the first time
  /// hooks      before_deploy, one after the other
  /// starting   its first worker was asked for; without preload before the hooks, since it imports
  /// warming    it is asked what `warm` names
  /// succeeded  it may take over
  /// failed     it must not; the reason was told
  enum class Step { importing, hooks, starting, warming, succeeded, failed };

  /// What a deploy has done for it. Outlives it.
  class Site {
   public:
    virtual void fork_worker(Release& next) = 0;
    virtual void ask(Release& next, const std::string& target) = 0;
    virtual void show_stacks(Release& next) = 0;
    virtual void say(core::Level level, const std::string& text) = 0;
    /// Whether code of it is in use, which stays when this deploy fails.
    virtual bool has_code() const = 0;

   protected:
    ~Site() = default;
  };

  /// owner     woken when it is time to call check()
  /// progress  null: nobody but the log hears
  Deploy(core::Active& owner, Site& site, const Release::Place& place,
         std::unique_ptr<Release> next, std::unique_ptr<process::Progress> progress);
  Deploy(const Deploy&) = delete;
  Deploy& operator=(const Deploy&) = delete;
  ~Deploy();

  Release& next() { return *next_; }
  Step step() const { return step_; }
  const process::DeployReport& report() const { return report_; }
  bool over() const { return step_ == Step::succeeded || step_ == Step::failed; }
  /// Of one that is over.
  std::unique_ptr<Release> take() { return std::move(next_); }
  /// Tells who asked how it ended.
  void tell_end();

  // What happens, of its release only.
  void on_imported();
  void on_refused(std::string_view reason);
  void on_zygote_gone(std::string_view how);
  void on_worker_ready();
  void on_worker_gone(std::string_view how);
  void on_warmed(unsigned status, std::string_view why);
  /// True: it was a hook. kills  explains it
  bool child_ended(pid_t pid, int wait_status, process::MemoryKills& kills);
  void fail(std::string why);
  void note(std::string_view line);  ///< for who asked: the log has it
  void check();                      ///< what is due

 private:
  void enter(Step step, core::Duration time, std::string what);
  void end(Step step);
  void start_worker();
  void run_hooks();
  void run_hook();
  void hook_ended();
  void warm();
  void warm_next();
  void overdue();
  void tell(std::string_view line);

  core::Active& owner_;
  Site& site_;
  const HostOptions& options_;
  process::SiteLog& log_;
  std::unique_ptr<Release> next_;
  std::unique_ptr<process::Progress> progress_;
  Step step_ = Step::importing;
  process::DeployReport report_;
  core::Timer deadline_;    // of the step
  core::Timer last_words_;  // of a hook that has ended
  std::size_t at_ = 0;      // which hook, or which target
  std::unique_ptr<SiteProcess> hook_;
  std::unique_ptr<process::Output> hook_output_;
  std::optional<int> hook_status_;
  std::string hook_end_;  // in words
};

}  // namespace portico::backend
