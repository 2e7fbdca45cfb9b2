#include "backend/host/embedded_service.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "backend/host/engine_blob.h"
#include "backend/host/hangs.h"
#include "backend/host/stacks.h"
#include "conf/check.h"
#include "proxy/core/log.h"

namespace portico::backend {
namespace {

using process::WorkerReport;
using record::ControlMessage;

// The one worker there is: the front itself.
constexpr std::uint16_t worker_number = 1;
// What the interpreter may say a turn.
constexpr int messages_a_turn = 64;

ControlMessage message(std::string_view verb) { return {std::string(verb), {}}; }

bool is_directory(const std::string& path) {
  struct stat facts {};
  return ::stat(path.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode);
}

}  // namespace

EmbeddedService::EmbeddedService(core::Active& supervisor, const conf::Application& application,
                                 std::shared_ptr<const HostOptions> options,
                                 std::shared_ptr<process::RecentLines> recent)
    : SiteService(supervisor, application, std::move(options), std::move(recent)), retry_(*this) {}

EmbeddedService::~EmbeddedService() = default;

void EmbeddedService::tell(const ControlMessage& text, std::span<const int> fds) {
  if (front_ != nullptr) front_->tell(application_.name, record::format_control(text), fds);
}

void EmbeddedService::tell_state(std::string_view state, std::string_view cause) {
  ControlMessage text = message("state").set("state", std::string(state));
  if (!cause.empty()) text.set("cause", std::string(cause));
  tell(text);
}

void EmbeddedService::front_up(process::FrontLink& link) {
  front_ = &link;
  state_ = State::starting;
  tell_state("starting");
  try_again();
}

// Its worker was the front.
void EmbeddedService::front_down() {
  front_ = nullptr;
  state_ = State::starting;
  control_.reset();
  retry_.clear();
}

void EmbeddedService::try_again() {
  backoff_.started(loop().now());
  if (stopping_ || front_ == nullptr) return;
  if (!is_directory(application_.directory))
    return fail("directory", "there is no directory " + application_.directory);
  if (library_.empty()) return look_for_library();
  if (control_ == nullptr) return embed();
  control_->send("again");
}

void EmbeddedService::look_for_library() {
  if (probe_ != nullptr) return;
  probe_ = std::make_unique<InterpreterProbe>(*this, application_,
                                              options_->identity ? &*options_->identity : nullptr);
}

void EmbeddedService::embed() {
  auto channels = Channels::make(front_->front_threads());
  auto ends = make_worker_ends(application_.threads, front_->front_threads());
  auto output = process::Output::pipe();
  if (!channels) return fail("interpreter", core::describe(channels.error()));
  if (!ends) return fail("interpreter", core::describe(ends.error()));
  if (!output) return fail("interpreter", core::describe(output.error()));
  const int fds[] = {channels->front_queue.get(), channels->cells.get()};
  tell(message("queue").set("generation", ++generation_), fds);
  announce(*ends);
  control_ = std::make_unique<net::Channel>(*this, std::move(ends->our_control));
  set_up(*channels, *ends, output->childs);
  outputs_.push_back(
      std::make_unique<process::Output>(*this, std::move(output->ours), log_.sink()));
}

// The front's part of it: what it loads, and the worker's ends go by way of the control socket.
void EmbeddedService::set_up(const Channels& channels, const WorkerEnds& ends,
                             const core::Fd& output) {
  std::vector<int> fds = {channels.worker_queue.get(), channels.cells.get(), output.get()};
  for (const core::Fd& fd : ends.worker) fds.push_back(fd.get());
  send_in_parts(*control_,
                setup_message(application_, front_->front_threads(), false)
                    .set("worker", std::uint64_t{worker_number})
                    .set("embedded", std::uint64_t{1}),
                fds);
  std::vector<int> given = {ends.worker_control.get()};
  if (options_->engine) given.push_back(options_->engine.get());
  tell(message("embed")
           .set("python", conf::resolve_python(application_))
           .set("library", library_)
           .set("boot", std::string(boot_source()))
           .set("engine", options_->engine_file),
       given);
}

void EmbeddedService::deploy(std::unique_ptr<process::Progress> progress) {
  if (progress == nullptr) return;
  progress->ended(
      process::Progress::Outcome::failed,
      application_.name + " is embedded in the front; restart Portico to load its code");
}

void EmbeddedService::announce(const WorkerEnds& ends) {
  for (const Announcement& part : announcements(worker_number, application_.threads, ends))
    tell(part.message, part.fds);
}

void EmbeddedService::advance() {
  if (probe_ != nullptr && probe_->finding() && probe_->pid() == 0) {
    const InterpreterProbe::Finding found = *probe_->finding();
    probe_.reset();
    if (stopping_) return supervisor_.wake();
    library_ = found.library;
    library_.empty() ? fail("interpreter", found.problem) : try_again();
  }
  hear_interpreter();
  if (retry_.due()) {
    retry_.clear();
    try_again();
  }
  std::erase_if(outputs_, [](const auto& output) { return output->ended(); });
}

void EmbeddedService::hear_interpreter() {
  for (int i = 0; i < messages_a_turn && control_ != nullptr; ++i) {
    auto received = control_->receive();
    if (!received || !received->has_value()) return;
    if (const auto heard = record::parse_control((*received)->text)) on_interpreter(*heard);
  }
  wake();
}

void EmbeddedService::on_interpreter(const ControlMessage& heard) {
  if (heard.verb == record::verb::imported) {
    front_pid_ = heard.number("pid").value_or(0);
  } else if (heard.verb == record::verb::failed) {
    fail("import", "importing " + application_.reference +
                       " failed: " + std::string(heard.text("reason").value_or("")));
  } else if (heard.verb == record::verb::ready) {
    tell(message("ready").set("worker", std::uint64_t{worker_number}).set("pid", front_pid_));
    state_ = State::ready;
    ready_since_ = loop().now();
    tell_state("ready");
  } else if (heard.verb == record::verb::leaving) {
    tell(message("leaving").set("worker", std::uint64_t{worker_number}));
  }
}

// The site answers 503 from now on; what is missing is tried again later.
void EmbeddedService::fail(std::string_view cause, const std::string& reason) {
  say(core::Level::error, "is not running: " + reason);
  state_ = State::failed;
  reason_ = reason;
  tell_state("failed", cause);
  if (!stopping_) retry_.set_after(backoff_.died(loop().now()));
  if (is_stillborn()) supervisor_.wake();
}

void EmbeddedService::hear(std::string_view text, std::vector<core::Fd>) {
  const auto heard = record::parse_control(text);
  if (!heard) return;
  if (heard->verb == "unembedded") {
    control_.reset();
    library_.clear();  // asked for again
    fail("interpreter", std::string(heard->text("reason").value_or("")));
  }
  if (heard->verb == "hanging") on_hanging(*heard);
  if (heard->verb == "liar")
    say(core::Level::error,
        "an answer was not one: the memory of the front may be damaged; start "
        "portico again, and leave \"embedded\" out");
}

// A thread cannot be ended, and the front must not be: it is shown, and is lost.
void EmbeddedService::on_hanging(const ControlMessage& heard) {
  say(core::Level::error,
      describe_hanging(heard) +
          ", and its thread in the front cannot be ended; where the threads are:");
  const auto front = static_cast<pid_t>(front_pid_);
  if (is_child_of(front, ::getpid()))
    ask_for_stacks(front, static_cast<pid_t>(heard.number("tid").value_or(0)));
}

// The front is its one worker, with the threads that the application has.
process::ServiceReport EmbeddedService::report() const {
  process::ServiceReport report = begin_report();
  report.wanted = report.least = report.most = 1;
  if (state_ == State::ready)
    report.workers.push_back({worker_number, static_cast<pid_t>(front_pid_),
                              WorkerReport::State::ready, loop().now() - ready_since_, ""});
  return report;
}

bool EmbeddedService::child_ended(pid_t pid, int) {
  if (probe_ == nullptr || probe_->pid() != pid) return false;
  probe_->ended();
  stopping_ ? supervisor_.wake() : wake();
  return true;
}

void EmbeddedService::stop(core::Time) {
  stopping_ = true;
  retry_.clear();
  if (probe_ != nullptr) probe_->give_up();
  if (stopped()) supervisor_.wake();
}

}  // namespace portico::backend
