#include "backend/host/application_service.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>

#include "conf/check.h"
#include "proxy/core/log.h"

namespace portico::backend {
namespace {

using record::ControlMessage;

// How long workers of a front that is gone may finish what they run: nobody waits for the answers.
constexpr auto leavers_grace = std::chrono::seconds(30);

ControlMessage message(std::string_view verb) { return {std::string(verb), {}}; }

bool is_directory(const std::string& path) {
  struct stat facts {};
  return ::stat(path.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode);
}

}  // namespace

ApplicationService::ApplicationService(core::Active& supervisor,
                                       const conf::Application& application,
                                       std::shared_ptr<const HostOptions> options)
    : Active(supervisor.loop()),
      supervisor_(supervisor),
      application_(application),
      options_(std::move(options)),
      retry_(*this),
      stop_deadline_(*this),
      leavers_deadline_(*this) {}

ApplicationService::~ApplicationService() { kill_left(); }

void ApplicationService::say(core::Level level, const std::string& text) const {
  core::log(level, "[" + application_.name + "] " + text);
}

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
  Worker* worker = workers_.find(static_cast<std::uint16_t>(heard->number("worker").value_or(0)));
  if (worker == nullptr) return;
  if (heard->verb == "answered") worker->has_answered = true;
  if (heard->verb != "liar") return;
  say(core::Level::error,
      "worker " + std::to_string(worker->number) + " sent what is not an answer; it is killed");
  kill_worker(*worker);
}

// The zygote runs the site's code and may lie about a process id: only its own children are killed,
// or those that it left to us.
void ApplicationService::kill_worker(const Worker& worker) {
  const pid_t zygote = zygote_ != nullptr ? zygote_->pid() : 0;
  if (is_child_of(worker.pid, zygote) || is_child_of(worker.pid, ::getpid()))
    ::kill(worker.pid, SIGKILL);
}

void ApplicationService::start_zygote() {
  if (stopping_ || !channels_) return;
  retry_.clear();
  zygote_backoff_.started(loop().now());
  imported_ = false;
  if (!options_->user_error.empty()) return fail("interpreter", options_->user_error);
  if (!is_directory(application_.directory))
    return fail("directory", "there is no directory " + application_.directory);
  auto started = Zygote::start(*this, application_, *options_, *channels_, front_threads_,
                               application_.workers > 1);
  if (!started)
    return fail("interpreter",
                conf::resolve_python(application_) + ": " + core::describe(started.error()));
  zygote_ = std::move(*started);
}

// The site answers 503 from now on; what is missing is tried again later.
void ApplicationService::fail(std::string_view cause, std::string reason) {
  say(core::Level::error, "is not running: " + reason);
  cause_ = cause;
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
  if (retry_.due()) {
    retry_.clear();
    zygote_ == nullptr ? start_zygote() : fill();
  }
  if (stop_deadline_.due() || leavers_deadline_.due()) kill_left();
}

void ApplicationService::hear_zygote() {
  while (zygote_ != nullptr) {
    const auto heard = zygote_->hear();
    if (!heard) return;
    on_zygote(*heard);
  }
}

void ApplicationService::on_zygote(const ControlMessage& heard) {
  if (heard.verb == record::verb::imported) {
    imported_ = true;
    fill();
  } else if (heard.verb == record::verb::failed) {
    on_failed(heard.text("reason").value_or("it did not say why"));
  } else if (heard.verb == record::verb::forked) {
    on_forked(heard);
  } else if (heard.verb == record::verb::exited) {
    worker_gone(static_cast<std::uint16_t>(heard.number("worker").value_or(0)),
                static_cast<int>(heard.number("status").value_or(0)));
  }
}

// Its exit follows and is waited for; the retry is set then.
void ApplicationService::on_failed(std::string_view reason) {
  say(core::Level::error,
      "is not running: importing " + application_.reference + " failed: " + std::string(reason));
  cause_ = "import";
  if (!workers_.any_ready(generation_)) become(State::failed);
}

void ApplicationService::on_forked(const ControlMessage& heard) {
  Worker* worker = workers_.find(static_cast<std::uint16_t>(heard.number("worker").value_or(0)));
  const auto pid = static_cast<pid_t>(heard.number("pid").value_or(0));
  if (worker != nullptr && is_child_of(pid, zygote_->pid())) worker->pid = pid;
}

void ApplicationService::hear_workers() {
  workers_.for_each([this](Worker& worker) {
    for (;;) {
      auto received = worker.control->receive();
      if (!received || !received->has_value()) return;
      if (const auto heard = record::parse_control((*received)->text)) on_worker(worker, *heard);
    }
  });
}

void ApplicationService::on_worker(Worker& worker, const ControlMessage& heard) {
  const auto number = std::uint64_t{worker.number};
  if (heard.verb == record::verb::ready && worker.state == Worker::State::starting) {
    worker.state = Worker::State::ready;
    worker.since = loop().now();
    worker_backoff_.started(worker.since);
    if (worker.generation != generation_) return;
    tell(message("ready").set("worker", number).set("pid", static_cast<std::uint64_t>(worker.pid)));
    become(State::ready);
  } else if (heard.verb == record::verb::leaving) {
    worker.state = Worker::State::leaving;
    if (worker.generation == generation_) tell(message("leaving").set("worker", number));
    fill();
  }
}

// As many workers as there should be, once the application is imported and there is a front.
void ApplicationService::fill() {
  if (stopping_ || front_ == nullptr || zygote_ == nullptr || !imported_) return;
  while (workers_.serving(generation_) < application_.workers) {
    const unsigned before = workers_.serving(generation_);
    fork_worker();
    if (workers_.serving(generation_) == before) return retry_later();
  }
}

void ApplicationService::fork_worker() {
  auto ends = make_worker_ends(application_.threads, front_threads_);
  if (!ends) return say(core::Level::error, core::describe(ends.error()));
  const std::uint16_t number = workers_.next_number();
  Worker& worker =
      workers_.add(number, generation_, loop().now(),
                   std::make_unique<net::Channel>(*this, std::move(ends->our_control)));
  announce(worker, *ends);
  zygote_->fork(number, *ends);
}

void ApplicationService::announce(const Worker& worker, const WorkerEnds& ends) {
  std::vector<int> fds;
  for (const core::Fd& fd : ends.front) fds.push_back(fd.get());
  tell(message("worker")
           .set("worker", std::uint64_t{worker.number})
           .set("threads", std::uint64_t{application_.threads}),
       fds);
}

bool ApplicationService::child_ended(pid_t pid, int wait_status) {
  if (zygote_ != nullptr && zygote_->pid() == pid) {
    hear_zygote();  // its last words come before its end
    zygote_gone(wait_status);
    return true;
  }
  const Worker* worker = workers_.find_pid(pid);
  if (worker == nullptr) return false;
  worker_gone(worker->number, wait_status);
  return true;
}

void ApplicationService::zygote_gone(int wait_status) {
  zygote_->ended();
  zygote_.reset();
  if (stopping_) return supervisor_.wake();
  const bool broken_import = cause_ == "import" && !imported_;
  if (broken_import) return retry_later();
  fail("exit", "its Python ended: " + describe_exit(wait_status));
}

void ApplicationService::worker_gone(std::uint16_t number, int wait_status) {
  Worker* worker = workers_.find(number);
  if (worker == nullptr) return;
  const std::string why = describe_exit(wait_status);
  const bool expected = worker->state == Worker::State::leaving;
  if (!expected) say(core::Level::warning, "worker " + std::to_string(number) + " is gone: " + why);
  if (worker->generation == generation_) {
    if (worker->has_answered) worker_backoff_.proved();
    tell(message("gone").set("worker", std::uint64_t{number}).set("why", why));
  }
  workers_.remove(number);
  if (stopping_) return supervisor_.wake();
  if (!workers_.any_ready(generation_) && state_ == State::ready) become(State::starting);
  expected ? fill() : retry_.set_after(worker_backoff_.died(loop().now()));
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

void ApplicationService::kill_left() {
  const bool all = stop_deadline_.due() || !stopping_;
  workers_.for_each([&](Worker& worker) {
    if (all || worker.generation != generation_) kill_worker(worker);
  });
  leavers_deadline_.clear();
  if (stop_deadline_.due() && zygote_ != nullptr) zygote_->kill(SIGKILL);
  stop_deadline_.clear();
}

}  // namespace portico::backend
