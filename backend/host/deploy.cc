#include "backend/host/deploy.h"

#include <signal.h>

#include <utility>

#include "proxy/core/log.h"

namespace portico::backend {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

// A migration of a large table takes its time; beyond this it hangs.
constexpr auto hook_time = minutes(30);
// For what a hook wrote last: children that it leaves behind may hold its output open for ever.
constexpr auto last_words_time = seconds(1);
// A status below this is an answer; what is wrong with it is the application's matter.
constexpr unsigned least_bad_status = 500;

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

}  // namespace

Deploy::Deploy(core::Active& owner, Site& site, const Release::Place& place,
               std::unique_ptr<Release> next, std::unique_ptr<process::Progress> progress)
    : owner_(owner),
      site_(site),
      options_(place.options),
      log_(place.log),
      next_(std::move(next)),
      progress_(std::move(progress)),
      deadline_(owner),
      last_words_(owner) {
  const conf::Application& application = next_->application();
  tell("importing " + application.reference + " in " + application.directory);
  report_.began = std::chrono::system_clock::now();
  enter(Step::importing, application.timeouts.start, "importing " + application.reference);
}

Deploy::~Deploy() {
  if (hook_ != nullptr) hook_->kill(SIGKILL);
}

void Deploy::tell(std::string_view line) {
  site_.say(core::Level::info, "deploy: " + std::string(line));
  note(line);
}

void Deploy::note(std::string_view line) {
  if (progress_ != nullptr) progress_->said(line);
}

void Deploy::tell_end() {
  if (progress_ == nullptr) return;
  const bool well = step_ == Step::succeeded;
  progress_->ended(well ? process::Progress::Outcome::done : process::Progress::Outcome::failed,
                   report_.reason);
}

void Deploy::enter(Step step, core::Duration time, std::string what) {
  step_ = step;
  report_.step = std::move(what);
  report_.since = std::chrono::system_clock::now();
  deadline_.set_after(time);
}

void Deploy::end(Step step) {
  step_ = step;
  report_.since = std::chrono::system_clock::now();
  deadline_.clear();
  owner_.wake();
}

void Deploy::fail(std::string why) {
  if (step_ == Step::failed) return;
  report_.state = process::DeployReport::State::failed;
  report_.reason = std::move(why);
  site_.say(core::Level::error,
            "deploy: " + report_.reason + (site_.has_code() ? "; the old code stays" : ""));
  end(Step::failed);
}

void Deploy::on_imported() {
  if (step_ == Step::importing) next_->preloads() ? run_hooks() : start_worker();
}

void Deploy::start_worker() {
  enter(Step::starting, next_->application().timeouts.start, "starting its first worker");
  site_.fork_worker(*next_);
}

void Deploy::on_refused(std::string_view reason) {
  fail("importing " + next_->application().reference + " failed: " + std::string(reason));
}

void Deploy::on_zygote_gone(std::string_view how) { fail("its Python " + std::string(how)); }

void Deploy::run_hooks() {
  at_ = 0;
  run_hook();
}

void Deploy::run_hook() {
  const auto& hooks = next_->application().before_deploy;
  if (at_ == hooks.size()) return next_->preloads() ? start_worker() : warm();
  tell("running " + joined(hooks[at_]));
  enter(Step::hooks, hook_time, "running " + joined(hooks[at_]));
  const auto write_log = log_.sink();
  const auto sink = [this, write_log](std::string_view line) {
    write_log(line);
    note(line);
  };
  auto started = SiteProcess::start(owner_, next_->application(), options_, hooks[at_], sink);
  if (!started) return fail(joined(hooks[at_]) + ": " + core::describe(started.error()));
  hook_ = std::move(*started);
}

bool Deploy::child_ended(pid_t pid, int wait_status, process::MemoryKills& kills) {
  if (hook_ == nullptr || hook_->pid() != pid) return false;
  hook_output_ = hook_->ended();
  hook_.reset();
  hook_status_ = wait_status;
  hook_end_ = kills.describe(wait_status);
  last_words_.set_after(last_words_time);
  owner_.wake();
  return true;
}

void Deploy::hook_ended() {
  last_words_.clear();
  hook_output_.reset();
  const int status = *std::exchange(hook_status_, std::nullopt);
  if (step_ != Step::hooks) return;
  const std::string name = joined(next_->application().before_deploy[at_]);
  if (status != 0) return fail(name + " " + hook_end_);
  ++at_;
  run_hook();
}

void Deploy::on_worker_ready() {
  if (step_ == Step::starting) next_->preloads() ? warm() : run_hooks();
}

void Deploy::on_worker_gone(std::string_view how) { fail("its first worker " + std::string(how)); }

void Deploy::warm() {
  at_ = 0;
  warm_next();
}

void Deploy::warm_next() {
  const conf::Application& application = next_->application();
  if (at_ == application.warm.size()) {
    report_.state = process::DeployReport::State::done;
    report_.step.clear();
    return end(Step::succeeded);
  }
  enter(Step::warming, application.timeouts.response, "asking GET " + application.warm[at_]);
  site_.ask(*next_, application.warm[at_]);
}

void Deploy::on_warmed(unsigned status, std::string_view why) {
  if (step_ != Step::warming) return;
  const std::string target = "GET " + next_->application().warm[at_];
  if (status == 0) return fail(target + ": " + std::string(why));
  if (status >= least_bad_status) return fail(target + " answers " + std::to_string(status));
  tell(target + " answers " + std::to_string(status));
  ++at_;
  warm_next();
}

void Deploy::check() {
  if (hook_status_ && (hook_output_->ended() || last_words_.due())) hook_ended();
  if (deadline_.due()) overdue();
}

void Deploy::overdue() {
  const conf::Application& application = next_->application();
  const Step step = step_;
  if (step == Step::importing || step == Step::starting) site_.show_stacks(*next_);
  if (step == Step::importing) fail("importing " + application.reference + " does not end");
  if (step == Step::hooks) fail(joined(application.before_deploy[at_]) + " does not end");
  if (step == Step::starting) fail("its first worker does not become ready");
  if (step == Step::warming) fail("GET " + application.warm[at_] + " is not answered in time");
}

}  // namespace portico::backend
