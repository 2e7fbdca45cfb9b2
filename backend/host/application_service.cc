#include "backend/host/application_service.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "conf/check.h"
#include "proxy/core/log.h"
#include "proxy/process/death.h"

namespace portico::backend {
namespace {

using record::ControlMessage;

// How long workers of a front that is gone may finish what they run: nobody waits for the answers.
// And what others that leave may take for their own ending, atexit and all, after the last request.
constexpr auto leavers_grace = std::chrono::seconds(30);
// From the end of a worker's descriptors to that of its process, which follows at once.
constexpr auto deaf_grace = std::chrono::seconds(2);
// How long an interpreter may take to end once it has said that the import failed: threads that the
// application has begun may hold it for ever.
constexpr auto refused_grace = std::chrono::seconds(5);
// What one process may say a turn, so that none that talks without end holds the supervisor.
constexpr int messages_a_turn = 64;
// Pipes of earlier zygotes that are still read, since children of theirs hold them open.
constexpr std::size_t outputs_kept = 4;

// Newer than all: no worker is kept.
constexpr std::uint64_t no_generation = UINT64_MAX;

ControlMessage message(std::string_view verb) { return {std::string(verb), {}}; }

bool is_directory(const std::string& path) {
  struct stat facts {};
  return ::stat(path.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode);
}

}  // namespace

ApplicationService::ApplicationService(core::Active& supervisor,
                                       const conf::Application& application,
                                       std::shared_ptr<const HostOptions> options,
                                       std::shared_ptr<process::RecentLines> recent)
    : Active(supervisor.loop()),
      supervisor_(supervisor),
      application_(application),
      options_(std::move(options)),
      log_(application.name, std::move(recent)),
      hangs_(*this),
      retry_(*this),
      stop_deadline_(*this),
      leavers_deadline_(*this),
      refused_deadline_(*this) {}

ApplicationService::~ApplicationService() {
  kill_workers(no_generation);
  if (zygote_ != nullptr) zygote_->kill(SIGKILL);
}

void ApplicationService::say(core::Level level, const std::string& text) { log_.say(level, text); }

void ApplicationService::tell(const ControlMessage& text, std::span<const int> fds) {
  if (front_ != nullptr) front_->tell(application_.name, record::format_control(text), fds);
}

void ApplicationService::front_up(process::FrontLink& link) {
  front_ = &link;
  front_threads_ = link.front_threads();
  auto made = Channels::make(front_threads_);
  if (!made) return fail("exit", core::describe(made.error()));
  channels_.emplace(std::move(*made));
  ++generation_;
  const int fds[] = {channels_->front_queue.get(), channels_->cells.get()};
  tell(message("queue").set("generation", generation_), fds);
  channels_->front_queue.reset();
  if (state_ == State::ready) state_ = State::starting;  // those that are ready belong to another
  tell_state();
  if (zygote_ == nullptr) return start_zygote();
  zygote_->renew(*channels_);
  fill();
}

void ApplicationService::front_down() {
  front_ = nullptr;
  if (channels_) channels_->revoke_all();
  workers_.for_each([](Worker& worker) {
    worker.state = Worker::State::leaving;
    worker.control->send(record::verb::stop);
  });
  if (!workers_.empty()) leavers_deadline_.set_after(leavers_grace);
}

void ApplicationService::hear(std::string_view text, std::vector<core::Fd>) {
  const auto heard = record::parse_control(text);
  if (!heard) return;
  if (heard->verb == "unclaimed") return on_unclaimed();
  Worker* worker = workers_.find(static_cast<std::uint16_t>(heard->number("worker").value_or(0)));
  if (worker == nullptr) return;
  if (heard->verb == "answered") worker->has_answered = true;
  if (heard->verb == "hanging") on_hanging(*worker, *heard);
  if (heard->verb != "liar") return;
  say(core::Level::error,
      "worker " + std::to_string(worker->number) + " sent what is not an answer; it is killed");
  kill_worker(*worker);
}

// The zygote runs the site's code and may lie about a process id: only its own children are ours,
// and those that it left to us.
bool ApplicationService::is_ours(pid_t pid) const {
  const pid_t zygote = zygote_ != nullptr ? zygote_->pid() : 0;
  return is_child_of(pid, zygote) || is_child_of(pid, ::getpid());
}

void ApplicationService::kill_worker(const Worker& worker) {
  if (is_ours(worker.pid)) ::kill(worker.pid, SIGKILL);
}

void ApplicationService::start_zygote() {
  if (stopping_ || !channels_) return;
  retry_.clear();
  zygote_backoff_.started(loop().now());
  imported_ = refused_ = import_hangs_ = false;
  if (!options_->user_error.empty()) return fail("interpreter", options_->user_error);
  if (!is_directory(application_.directory))
    return fail("directory", "there is no directory " + application_.directory);
  auto started = Zygote::start(*this, application_, *options_, *channels_, front_threads_,
                               application_.workers > 1, log_);
  if (!started)
    return fail("interpreter",
                conf::resolve_python(application_) + ": " + core::describe(started.error()));
  zygote_ = std::move(*started);
  hangs_.expect(Hangs::zygote, loop().now() + application_.timeouts.start);
}

// The site answers 503 from now on; what is missing is tried again later.
void ApplicationService::fail(std::string_view cause, std::string reason) {
  say(core::Level::error, "is not running: " + reason);
  cause_ = cause;
  reason_ = std::move(reason);
  if (!workers_.any_ready(generation_)) become(State::failed);
  retry_later();
}

void ApplicationService::retry_later() {
  if (!stopping_) retry_.set_after(zygote_backoff_.died(loop().now()));
}

void ApplicationService::become(State state) {
  if (state_ == state) return;
  state_ = state;
  tell_state();
}

void ApplicationService::tell_state() {
  ControlMessage text = message("state");
  if (state_ == State::starting) text.set("state", "starting");
  if (state_ == State::ready) text.set("state", "ready");
  if (state_ == State::failed) text.set("state", "failed").set("cause", cause_);
  tell(text);
}

void ApplicationService::advance() {
  hear_zygote();
  hear_workers();
  on_deadlines();
  handle_hangs();
  std::erase_if(outputs_, [](const auto& output) { return output->ended(); });
}

void ApplicationService::on_deadlines() {
  if (retry_.due()) {
    retry_.clear();
    zygote_ == nullptr ? start_zygote() : fill();
  }
  if (leavers_deadline_.due()) {
    leavers_deadline_.clear();
    kill_workers(generation_);
  }
  if (refused_deadline_.due() || stop_deadline_.due()) {
    refused_deadline_.clear();
    if (zygote_ != nullptr) zygote_->kill(SIGKILL);
  }
  if (stop_deadline_.due()) {
    stop_deadline_.clear();
    kill_workers(no_generation);
  }
}

void ApplicationService::hear_zygote() {
  if (zygote_ == nullptr) return;
  for (int i = 0; i < messages_a_turn; ++i) {
    const auto heard = zygote_->hear();
    if (!heard) return;
    on_zygote(*heard);
  }
  wake();
}

void ApplicationService::on_zygote(const ControlMessage& heard) {
  if (heard.verb == record::verb::imported) {
    imported_ = true;
    hangs_.forget(Hangs::zygote);
    fill();
  } else if (heard.verb == record::verb::failed) {
    on_failed(heard.text("reason").value_or("it did not say why"));
  } else if (heard.verb == record::verb::forked) {
    on_forked(heard);
  } else if (heard.verb == record::verb::exited) {
    on_exited(heard);
  }
}

// Its exit follows and is waited for; the retry is set then.
void ApplicationService::on_failed(std::string_view reason) {
  reason_ = "importing " + application_.reference + " failed: " + std::string(reason);
  say(core::Level::error, "is not running: " + reason_);
  cause_ = "import";
  refused_ = true;
  hangs_.forget(Hangs::zygote);
  refused_deadline_.set_after(refused_grace);
  if (!workers_.any_ready(generation_)) become(State::failed);
}

void ApplicationService::on_forked(const ControlMessage& heard) {
  Worker* worker = workers_.find(static_cast<std::uint16_t>(heard.number("worker").value_or(0)));
  const auto pid = static_cast<pid_t>(heard.number("pid").value_or(0));
  if (worker == nullptr || !is_child_of(pid, zygote_->pid())) return;
  worker->pid = pid;
  if (worker->state == Worker::State::ready) tell_ready(*worker);  // it was faster than this
}

void ApplicationService::on_exited(const ControlMessage& heard) {
  const auto status = static_cast<int>(heard.number("status").value_or(0));
  const bool born = heard.number("pid").value_or(0) != 0;
  worker_gone(static_cast<std::uint16_t>(heard.number("worker").value_or(0)),
              born ? process::describe_death(status) : "could not be forked");
}

void ApplicationService::hear_workers() {
  workers_.for_each([this](Worker& worker) { hear_worker(worker); });
}

void ApplicationService::hear_worker(Worker& worker) {
  for (int i = 0; i < messages_a_turn; ++i) {
    auto received = worker.control->receive();
    if (!received) return expect_end(worker);
    if (!received->has_value()) return;
    if (const auto heard = record::parse_control((*received)->text)) on_worker(worker, *heard);
  }
  wake();
}

// Its end closes its control socket; but an application may have closed all that was open, and then
// threads that wait for requests wait for ever.
void ApplicationService::expect_end(Worker& worker) {
  if (worker.is_deaf || worker.state != Worker::State::ready) return;
  worker.is_deaf = true;
  hangs_.expect(worker.number, loop().now() + deaf_grace);
}

void ApplicationService::on_worker(Worker& worker, const ControlMessage& heard) {
  const bool present = worker.generation == generation_;
  if (heard.verb == record::verb::ready && worker.state == Worker::State::starting) {
    worker.state = Worker::State::ready;
    worker.since = loop().now();
    hangs_.forget(worker.number);
    if (!present) return;
    tell_ready(worker);
    become(State::ready);
  } else if (heard.verb == record::verb::leaving) {
    on_leaving(worker);
  }
}

// It takes no more records, and its successor starts.
void ApplicationService::on_leaving(Worker& worker) {
  if (worker.state == Worker::State::leaving) return;
  worker.state = Worker::State::leaving;
  if (!hangs_.hangs(worker.number))
    hangs_.expect(worker.number, loop().now() + application_.timeouts.response + leavers_grace);
  if (worker.generation != generation_) return;
  tell(message("leaving").set("worker", std::uint64_t{worker.number}));
  if (!workers_.any_ready(generation_) && state_ == State::ready) become(State::starting);
  replace(worker);
}

void ApplicationService::tell_ready(const Worker& worker) {
  tell(message("ready")
           .set("worker", std::uint64_t{worker.number})
           .set("pid", static_cast<std::uint64_t>(worker.pid)));
}

// At once where the one that left had come up well; else deaths in a row make the wait longer.
void ApplicationService::replace(const Worker& worker) {
  if (stopping_ || zygote_ == nullptr) return;
  if (worker.has_answered) {
    worker_backoff_.proved();
    retry_.clear();
    return fill();
  }
  retry_.set_after(worker_backoff_.died(loop().now()));
}

// As many workers as there should be, once the application is imported and there is a front.
void ApplicationService::fill() {
  const bool able = !stopping_ && front_ != nullptr && zygote_ != nullptr && imported_;
  if (!able || retry_.is_set()) return;
  while (workers_.serving(generation_) < application_.workers) {
    const unsigned before = workers_.serving(generation_);
    fork_worker();
    if (workers_.serving(generation_) == before)
      return retry_.set_after(worker_backoff_.died(loop().now()));
  }
}

void ApplicationService::fork_worker() {
  auto ends = make_worker_ends(application_.threads, front_threads_);
  if (!ends) return say(core::Level::error, core::describe(ends.error()));
  const std::uint16_t number = workers_.next_number();
  Worker& worker =
      workers_.add(number, generation_, loop().now(),
                   std::make_unique<net::Channel>(*this, std::move(ends->our_control)));
  worker_backoff_.started(worker.since);
  hangs_.expect(number, worker.since + application_.timeouts.start);
  announce(worker, *ends);
  zygote_->fork(number, *ends);
}

void ApplicationService::announce(const Worker& worker, const WorkerEnds& ends) {
  for (const Announcement& part : announcements(worker.number, application_.threads, ends))
    tell(part.message, part.fds);
}

bool ApplicationService::child_ended(pid_t pid, int wait_status) {
  if (zygote_ != nullptr && zygote_->pid() == pid) {
    hear_zygote();  // its last words come before its end
    zygote_gone(wait_status);
    return true;
  }
  const Worker* worker = workers_.find_pid(pid);
  if (worker == nullptr) return false;
  worker_gone(worker->number, process::describe_death(wait_status));
  return true;
}

// A worker that it has not told of was never forked, or has ended with it (PR_SET_PDEATHSIG).
void ApplicationService::zygote_gone(int wait_status) {
  keep_output(zygote_->ended());
  zygote_.reset();
  refused_deadline_.clear();
  hangs_.forget(Hangs::zygote);
  for (const std::uint16_t number : workers_.untold()) worker_gone(number, "ended with its zygote");
  if (stopping_) return supervisor_.wake();
  if (refused_) return retry_later();
  if (import_hangs_) return fail("import", "importing " + application_.reference + " hung");
  fail("exit", "its Python " + process::describe_death(wait_status));
}

// Its last words may still lie in the pipe.
void ApplicationService::keep_output(std::unique_ptr<process::Output> output) {
  outputs_.push_back(std::move(output));
  if (outputs_.size() > outputs_kept) outputs_.pop_front();
}

void ApplicationService::worker_gone(std::uint16_t number, std::string_view why) {
  Worker* found = workers_.find(number);
  if (found == nullptr) return;
  hear_worker(*found);  // its last words come before its end
  const Worker worker = std::move(*found);
  workers_.remove(number);
  hangs_.forget(number);
  const bool expected = worker.state == Worker::State::leaving;
  const bool present = worker.generation == generation_;
  if (!expected)
    say(core::Level::warning, "worker " + std::to_string(number) + " " + std::string(why));
  if (present)
    tell(message("gone").set("worker", std::uint64_t{number}).set("why", std::string(why)));
  if (stopping_) return supervisor_.wake();
  if (!present) return;
  if (!workers_.any_ready(generation_) && state_ == State::ready) become(State::starting);
  if (!expected) replace(worker);
}

void ApplicationService::stop(core::Time deadline) {
  stopping_ = true;
  retry_.clear();
  stop_deadline_.set(deadline);
  workers_.for_each([](Worker& worker) {
    worker.state = Worker::State::leaving;
    worker.control->send(record::verb::stop);
  });
  if (zygote_ != nullptr) zygote_->stop();
  if (stopped()) supervisor_.wake();
}

bool ApplicationService::stopped() const { return zygote_ == nullptr && workers_.empty(); }

/// oldest_kept  the generation from which on workers are left alone
void ApplicationService::kill_workers(std::uint64_t oldest_kept) {
  workers_.for_each([&](Worker& worker) {
    if (worker.generation < oldest_kept) kill_worker(worker);
  });
}

}  // namespace portico::backend
