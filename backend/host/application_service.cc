#include "backend/host/application_service.h"

#include <signal.h>
#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "backend/host/bases.h"
#include "proxy/core/log.h"
#include "proxy/process/session.h"

namespace portico::backend {
namespace {

using record::ControlMessage;

// Pipes of earlier zygotes that are still read, since children of theirs hold them open.
constexpr std::size_t outputs_kept = 4;

bool is_there(const conf::Application& application) {
  struct stat facts {};
  return ::stat(application.directory.c_str(), &facts) == 0;
}

}  // namespace

ApplicationService::ApplicationService(core::Active& supervisor,
                                       const conf::Application& application,
                                       std::shared_ptr<const HostOptions> options,
                                       std::shared_ptr<process::RecentLines> recent)
    : SiteService(supervisor, application, std::move(options), std::move(recent)),
      front_(application.name),
      memory_kills_(options_->groups.memory_kills(application.name)),
      companions_(*this, application, *options_, log_),
      code_watch_(*this, application_),
      hangs_(*this),
      recycling_(*this, application_.recycle),
      target_(least()),
      retry_(*this),
      stop_deadline_(*this),
      ending_(*this) {}

ApplicationService::~ApplicationService() { kill_workers(); }

// The zygote needs the channels of a front, and somebody who wants it.
void ApplicationService::start() {
  const auto resources = options_->groups.report(application_.name);
  if (resources && !resources->problem.empty()) say(core::Level::warning, resources->problem);
}

void ApplicationService::say(core::Level level, const std::string& text) { log_.say(level, text); }

Release::Place ApplicationService::next_place() {
  return {*options_, log_, ++last_generation_, front_.front_threads()};
}

Release::Place ApplicationService::place_of(const Release& release) {
  return {*options_, log_, release.number(), front_.front_threads()};
}

std::vector<Release*> ApplicationService::releases() const {
  std::vector<Release*> all;
  if (current_ != nullptr) all.push_back(current_.get());
  if (deploy_ != nullptr) all.push_back(&deploy_->next());
  for (const auto& one : past_) all.push_back(one.get());
  return all;
}

Release* ApplicationService::find_release(std::uint64_t number) const {
  for (Release* one : releases()) {
    if (one->number() == number) return one;
  }
  return nullptr;
}

bool ApplicationService::is_present(const Worker& worker) const {
  return current_ != nullptr && worker.generation == current_->number();
}

bool ApplicationService::is_known_to_front(const Worker& worker) const {
  return front_.present() && worker.generation >= first_of_front_;
}

bool ApplicationService::any_ready() const {
  return current_ != nullptr && workers_.any_ready(current_->number());
}

void ApplicationService::front_up(process::FrontLink& link) {
  front_.attach(link);
  first_of_front_ = last_generation_ + 1;
  if (state_ == State::ready) state_ = State::starting;  // those that are ready belong to another
  if (application_.demand) front_.target(target_);
  if (current_ == nullptr) {
    if (target_ != 0) start_code();
  } else if (current_->renew(next_place())) {
    front_.queue(current_->number(), current_->channels(), Standing::in_use);
  } else {
    current_->kill();  // its end is waited for, and then another is started
  }
  front_.state(state_, cause_);
  fill();
  wake();
}

void ApplicationService::front_down() {
  front_.detach();
  if (deploy_ != nullptr) deploy_->fail("the front has ended meanwhile");
  settle_deploy();
  end_switch();
  for (Release* one : releases()) one->channels().revoke_all();
  workers_.for_each([this](Worker& worker) {
    end_unready(worker);
    send_away(worker, loop().now() + leavers_grace);
  });
  forget_past();
}

// It has nothing to finish.
void ApplicationService::end_unready(Worker& worker) {
  if (worker.state != Worker::State::starting) return;
  worker.is_unwanted = true;
  kill_worker(worker);
}

void ApplicationService::send_away(Worker& worker, core::Time by) {
  worker.state = Worker::State::leaving;
  worker.control->send(record::verb::stop);
  if (!hangs_.hangs(worker.number)) hangs_.expect(worker.number, by);
}

void ApplicationService::hear(std::string_view text, std::vector<core::Fd>) {
  const auto heard = record::parse_control(text);
  if (!heard) return;
  if (heard->verb == "unclaimed") return on_unclaimed();
  if (heard->verb == "demand") return on_demand(heard->number("workers").value_or(0));
  if (heard->verb == "lost") return on_lost(*heard);
  const std::uint64_t generation = heard->number("generation").value_or(0);
  if (heard->verb == "finished") return on_finished(generation);
  if (heard->verb == "warmed" && is_next(generation))
    deploy_->on_warmed(static_cast<unsigned>(heard->number("status").value_or(0)),
                       heard->text("why").value_or(""));
  Worker* worker = workers_.find(worker_of(*heard));
  if (worker == nullptr) return;
  if (heard->verb == "answered") worker->has_answered = true;
  if (heard->verb == "worked") recycling_.worked(worker->number);
  if (heard->verb == "due")
    recycling_.has_answered(worker->number, heard->number("answers").value_or(0));
  if (heard->verb == "hanging") on_hanging(*worker, *heard);
  if (heard->verb == "liar") on_liar(*worker);
}

void ApplicationService::on_finished(std::uint64_t generation) {
  if (Release* one = find_release(generation); one != nullptr) one->finished();
  if (generation == switching_from_) end_switch();
  forget_past();
}

// What has ended altogether. Until the front is done with a queue it is kept, since what is sent
// into one with nobody at the other end is refused.
void ApplicationService::forget_past() {
  std::erase_if(past_, [this](const auto& one) {
    const bool is_finished = one->is_finished() || !front_.present();
    return !one->runs() && is_finished && !workers_.any(one->number());
  });
}

// The code that served last, as long as it is there: other code comes by a deploy.
void ApplicationService::start_code() {
  if (stopping_ || !front_.present()) return;
  retry_.clear();
  zygote_backoff_.started(loop().now());
  import_hangs_ = false;
  const bool is_kept = served_ && is_there(*served_);
  Release::Failure failure;
  current_ = Release::start(*this, is_kept ? *served_ : application_, next_place(), failure);
  if (current_ == nullptr) return fail(failure.cause, failure.reason);
  hangs_.expect(Hangs::zygote, loop().now() + application_.timeouts.start);
  front_.queue(current_->number(), current_->channels(), Standing::in_use);
}

// The site answers 503 from now on; what is missing is tried again later.
void ApplicationService::fail(std::string_view cause, std::string reason) {
  tell_failure(cause, std::move(reason));
  retry_later();
}

// This code cannot run: what is tried next is where the operator's words lead then.
void ApplicationService::refuse(std::string_view cause, std::string reason) {
  tell_failure(cause, std::move(reason));
  served_.reset();
}

void ApplicationService::tell_failure(std::string_view cause, std::string reason) {
  say(core::Level::error, "is not running: " + reason);
  cause_ = cause;
  reason_ = std::move(reason);
  refuse_requests();
}

// Those that wait for it, at once. Where nobody asks again, nobody starts it again.
void ApplicationService::refuse_requests() {
  if (any_ready()) return;
  become(State::failed);
  aim_low();
}

// Where somebody works at the code, the same code is not tried again.
bool ApplicationService::awaits_change() const {
  return application_.reload && state_ == State::failed;
}

void ApplicationService::retry_later() {
  if (stopping_) return;
  if (!awaits_change()) return retry_.set_after(zygote_backoff_.died(loop().now()));
  say(core::Level::info, "waits for a change of a Python source below " + application_.directory);
}

void ApplicationService::become(State state) {
  if (state_ == state) return;
  state_ = state;
  front_.state(state_, cause_);
}

void ApplicationService::advance() {
  for (Release* one : releases()) hear_zygote(*one);
  hear_workers();
  if (front_.present() && code_watch_.has_changed()) deploy(nullptr);
  companions_.check();
  if (deploy_ != nullptr) deploy_->check();
  settle_deploy();
  handle_hangs();
  watch_memory();
  on_deadlines();
  bury_lost();
  tend();
  std::erase_if(outputs_, [](const auto& output) { return output->ended(); });
  if (is_stillborn()) supervisor_.wake();
}

void ApplicationService::hear_zygote(Release& release) {
  if (release.state() == Release::State::unborn) await_birth(release);
  if (!release.runs()) return;
  if (release.zygote().has_gone_deaf()) {
    say(core::Level::error,
        "its Python has not read what it was told for a long time; it is killed");
    return release.kill();
  }
  for (int i = 0; i < messages_a_turn && release.runs(); ++i) {
    const auto heard = release.zygote().hear();
    if (!heard) return;
    on_zygote(release, *heard);
  }
  wake();
}

void ApplicationService::on_zygote(Release& release, const ControlMessage& heard) {
  if (heard.verb == record::verb::imported) {
    on_imported(release, heard);
  } else if (heard.verb == record::verb::failed) {
    on_refused(release, heard.text("reason").value_or("it did not say why"));
  } else if (heard.verb == record::verb::forked) {
    on_forked(release, heard);
  } else if (heard.verb == record::verb::exited) {
    on_exited(release, heard);
  }
}

void ApplicationService::on_imported(Release& release, const ControlMessage& heard) {
  if (release.state() != Release::State::importing) return;
  const auto unfit = heard.text("unfit");
  if (unfit && release.preloads()) {
    tell_unfit(release, *unfit);
    if (application_.preload != conf::Preload::always) return import_in_workers(release);
  } else if (release.preloads()) {
    told_unfit_.clear();
  }
  release.imported();
  if (is_next(release.number())) return deploy_->on_imported();
  if (&release != current_.get()) return;
  hangs_.forget(Hangs::zygote);
  fill();
}

// Its exit follows and is waited for; the retry is set then.
void ApplicationService::on_refused(Release& release, std::string_view reason) {
  release.refused(loop().now());
  if (is_next(release.number())) return deploy_->on_refused(reason);
  if (&release != current_.get()) return;
  refuse("import", "importing " + application_.reference + " failed: " + std::string(reason));
  hangs_.forget(Hangs::zygote);
}

void ApplicationService::on_forked(Release& release, const ControlMessage& heard) {
  Worker* worker = workers_.find(worker_of(heard));
  const auto pid = static_cast<pid_t>(heard.number("pid").value_or(0));
  if (worker == nullptr || worker->zygote != release.pid()) return;
  if (!is_child_of(pid, release.pid())) return;
  worker->pid = pid;
  if (worker->is_unwanted) return kill_worker(*worker);
  if (worker->state == Worker::State::ready && is_known_to_front(*worker))
    front_.ready(*worker);  // it was faster than this
}

void ApplicationService::on_exited(Release& release, const ControlMessage& heard) {
  const Worker* worker = workers_.find(worker_of(heard));
  if (worker == nullptr || worker->zygote != release.pid()) return;
  const auto status = static_cast<int>(heard.number("status").value_or(0));
  const bool born = heard.number("pid").value_or(0) != 0;
  if (status != 0) end_leftovers(*worker);
  worker_gone(worker->number, born ? memory_kills_.describe(status) : why_not_forked());
}

std::string ApplicationService::why_not_forked() const {
  const auto resources = options_->groups.report(application_.name);
  const bool is_full = resources && resources->most_processes != 0 &&
                       resources->processes.value_or(0) >= resources->most_processes;
  return std::string("could not be forked") +
         (is_full ? ": its site has as many processes as it may (resources.processes)" : "");
}

bool ApplicationService::child_ended(pid_t pid, int wait_status) {
  for (Release* one : releases()) {
    if (!one->runs() || one->pid() != pid) continue;
    hear_zygote(*one);  // its last words come before its end
    const std::string how = memory_kills_.describe(wait_status);
    may_begin_alone(*one) ? begin_alone(*one, "its zygote " + how) : zygote_gone(*one, how);
    return true;
  }
  if (deploy_ != nullptr && deploy_->child_ended(pid, wait_status, memory_kills_)) return true;
  if (companions_.child_ended(pid, wait_status, memory_kills_)) {
    if (stopping_) supervisor_.wake();
    return true;
  }
  if (options_->bases != nullptr && options_->bases->child_ended(pid, wait_status)) {
    if (stopping_) supervisor_.wake();
    return true;
  }
  const Worker* worker = workers_.find_pid(pid);
  if (worker == nullptr) return false;
  if (wait_status != 0) end_leftovers(*worker);
  worker_gone(worker->number, memory_kills_.describe(wait_status));
  return true;
}

// Its workers are our children now, and wait will tell of them; but not of one that it has not told
// of (never forked, or ended with it: PR_SET_PDEATHSIG), nor of one whose end it heard and did not
// tell. All else that the application has started ends with it.
void ApplicationService::zygote_gone(Release& release, const std::string& how) {
  const Release::State before = release.state();
  const pid_t zygote = release.pid();
  keep_output(release.ended());
  process::kill_session(zygote);
  for (const std::uint16_t number : workers_.forked_by(zygote))
    if (!is_ours(*workers_.find(number))) worker_gone(number, "ended with its zygote");
  workers_.orphan(zygote);
  if (is_next(release.number())) deploy_->on_zygote_gone(how);
  if (&release == current_.get()) current_gone(before, how);
  forget_past();
  stopping_ ? supervisor_.wake() : wake();
}

// Where it served, requests wait for the next one; where it never did, they are refused.
void ApplicationService::current_gone(Release::State before, const std::string& how) {
  hangs_.forget(Hangs::zygote);
  past_.push_back(std::move(current_));
  if (stopping_) return;
  if (before == Release::State::refused) return retry_later();
  if (import_hangs_) return fail("import", "importing " + application_.reference + " hung");
  if (before != Release::State::imported) return fail("exit", "its Python " + how);
  say(core::Level::error, "its Python " + how + "; another is started");
  become(State::starting);
  retry_later();
}

// Its last words may still lie in the pipe.
void ApplicationService::keep_output(std::unique_ptr<process::Output> output) {
  outputs_.push_back(std::move(output));
  if (outputs_.size() > outputs_kept) outputs_.pop_front();
}

// An import that is under way is nothing to finish.
void ApplicationService::stop(core::Time deadline) {
  stopping_ = true;
  retry_.clear();
  stop_deadline_.set(deadline);
  if (deploy_ != nullptr) deploy_->fail("Portico stops");
  settle_deploy();
  end_switch();
  workers_.for_each([](Worker& worker) {
    worker.state = Worker::State::leaving;
    worker.control->send(record::verb::stop);
  });
  companions_.stop(deadline);
  for (Release* one : releases()) {
    if (one->is_beginning()) one->kill();
    one->stop(deadline);
  }
  if (options_->bases != nullptr) options_->bases->stop();
  wake();
  if (stopped()) supervisor_.wake();
}

// Not before all that it had to say was heard.
bool ApplicationService::is_stillborn() const {
  return !has_served_ && state_ == State::failed && current_ == nullptr && outputs_.empty();
}

bool ApplicationService::stopped() const {
  const std::vector<Release*> all = releases();
  return workers_.empty() && companions_.stopped() &&
         (options_->bases == nullptr || options_->bases->stopped()) &&
         std::none_of(all.begin(), all.end(), [](const Release* one) { return one->runs(); });
}

}  // namespace portico::backend
