#include "backend/front/application.h"

#include <algorithm>
#include <utility>

#include "proxy/core/log.h"

namespace portico::backend {
namespace {

using record::ControlMessage;

// Records that may lie in the socket beyond what idle threads will take: enough that a worker which
// gathers finds the next one there, few enough for an unprivileged send buffer (208 KiB).
constexpr std::size_t window = 32;
// Of one worker; a claim cell has a byte for the thread's number.
constexpr std::uint64_t most_threads = 256;

// Of each part of a request that is told to the supervisor: percent-encoded, three fit a message.
constexpr std::size_t longest_told = 2048;

// Of the workers that have ended, as many are remembered for status.
constexpr std::size_t gone_remembered = 16;

const char* cause_text(std::string_view cause) {
  if (cause == "directory") return "looking for its directory";
  if (cause == "user") return "becoming its user";
  if (cause == "environment") return "reading its environment file";
  if (cause == "interpreter") return "starting its Python";
  if (cause == "import") return "importing the application";
  return "running it";
}

std::uint16_t worker_number(const ControlMessage& message) {
  return static_cast<std::uint16_t>(message.number("worker").value_or(0));
}

void name_request(ControlMessage& message, const record::Record& request) {
  message.set("method", std::string(request.method.substr(0, longest_told)));
  message.set("target", std::string(request.target.substr(0, longest_told)));
  message.set("id", std::string(request.request_id.substr(0, longest_told)));
}

}  // namespace

/// An event on its way to the lane of a front thread; the lane may have gone when it arrives.
struct Application::Letter {
  Application* application;
  unsigned thread;
  Event event;

  static void open(void* argument) {
    const std::unique_ptr<Letter> letter(static_cast<Letter*>(argument));
    Lane* lane = letter->application->lanes_[letter->thread].get();
    if (lane != nullptr) letter->event(*lane);
  }
  static void drop(void* argument) { delete static_cast<Letter*>(argument); }
};

Application::Application(const conf::Application& options, unsigned front_threads, Spool& spool,
                         Tell tell)
    : options_(options),
      front_threads_(front_threads),
      spool_(spool),
      tell_(std::move(tell)),
      admission_(0, options.limits.queue),
      loops_(front_threads, nullptr),
      pending_(front_threads),
      lanes_(front_threads) {}

Application::~Application() = default;

void Application::attach(core::Loop& loop) {
  const unsigned thread = loop.index();
  std::vector<Event> events;
  {
    const std::lock_guard lock(mutex_);
    lanes_[thread] = std::make_unique<Lane>(loop, *this);
    if (thread == 0 && options_.demand) demand_watch_ = std::make_unique<DemandWatch>(loop, *this);
    loops_[thread] = &loop;
    events.swap(pending_[thread]);
  }
  for (const Event& event : events) event(*lanes_[thread]);
}

void Application::detach(core::Loop& loop) {
  const std::lock_guard lock(mutex_);
  loops_[loop.index()] = nullptr;
  lanes_[loop.index()].reset();
  if (loop.index() == 0) demand_watch_.reset();
}

void Application::post(unsigned thread, Event event) {
  const std::lock_guard lock(mutex_);
  if (loops_[thread] == nullptr) {
    pending_[thread].push_back(std::move(event));
    return;
  }
  loops_[thread]->post(&Letter::open, new Letter{this, thread, std::move(event)}, &Letter::drop);
}

void Application::post_all(const Event& event) {
  for (unsigned thread = 0; thread < front_threads_; ++thread) post(thread, event);
}

void Application::hear(std::string_view text, std::vector<core::Fd> fds, core::Time now) {
  using Worker = WorkerStatus::State;
  const auto message = record::parse_control(text);
  if (!message) return;
  if (message->verb == "queue") return on_queue(*message, std::move(fds));
  if (message->verb == "switch") return on_switch(*message);
  if (message->verb == "drop") return post_all([](Lane& lane) { lane.drop(); });
  if (message->verb == "warm") return on_warm(*message);
  if (message->verb == "worker") return on_worker(*message, std::move(fds), now);
  if (message->verb == "ready") return on_worker_state(*message, Worker::ready, now);
  if (message->verb == "leaving") return on_worker_state(*message, Worker::leaving, now);
  if (message->verb == "gone") return on_worker_state(*message, Worker::gone, now);
  if (message->verb == "watch") return on_watch(*message);
  if (message->verb == "target") return on_target(*message);
  if (message->verb == "state") on_state(*message, now);
}

void Application::on_queue(const ControlMessage& message, std::vector<core::Fd> fds) {
  if (fds.size() != 2) return;
  auto opened = Generation::open(message.number("generation").value_or(0), std::move(fds[0]),
                                 std::move(fds[1]), front_threads_);
  if (!opened) {
    core::log(core::Level::error, options_.name + ": " + core::describe(opened.error()));
    return;
  }
  cells_per_thread_ = (*opened)->cells_per_thread();
  if (message.number("standby").value_or(0) != 0)
    return post_all([generation = *opened](Lane& lane) { lane.stand_by(generation); });
  generation_ = (*opened)->number();
  post_all([generation = *opened](Lane& lane) { lane.use(generation); });
  fit_slots();
}

// The slots follow the workers that take from now on; the earlier ones finish what they run.
void Application::on_switch(const ControlMessage& message) {
  generation_ = message.number("generation").value_or(0);
  post_all([](Lane& lane) { lane.switch_over(); });
  fit_slots();
}

// One front thread is enough to ask.
void Application::on_warm(const ControlMessage& message) {
  post(0, [target = std::string(message.text("target").value_or("/"))](Lane& lane) {
    lane.warm_up(target);
  });
}

// A worker with more streams than one message has descriptors is told in several: threads from
// `first` on, each with a stream for every front thread.
void Application::on_worker(const ControlMessage& message, std::vector<core::Fd> fds,
                            core::Time now) {
  const std::uint16_t worker = worker_number(message);
  const std::uint64_t first = message.number("first").value_or(0);
  const std::uint64_t threads = message.number("threads").value_or(0);
  const std::uint64_t generation = message.number("generation").value_or(generation_);
  const std::uint64_t here = fds.size() / front_threads_;
  const bool sound = worker != 0 && (here != 0 || options_.threads == 0) &&
                     fds.size() % front_threads_ == 0 && threads <= most_threads &&
                     first <= threads && here <= threads - first;
  if (!sound) {
    return core::log(core::Level::error, options_.name + ": the supervisor told of worker " +
                                             std::to_string(worker) + " what cannot be");
  }
  SharedTally tally = std::make_shared<WorkerTally>(message.number("most").value_or(0));
  {
    const std::lock_guard lock(mutex_);
    WorkerStatus& known = workers_[worker];
    if (first != 0 && known.tally) tally = known.tally;
    known = {};
    known.worker = worker;
    known.threads = static_cast<unsigned>(threads);
    known.generation = generation;
    known.since = now;
    known.tally = tally;
  }
  for (unsigned front = 0; front < front_threads_; ++front) {
    auto links = std::make_shared<std::vector<core::Fd>>();
    for (std::size_t at = front; at < fds.size(); at += front_threads_)
      links->push_back(std::move(fds[at]));
    const WorkerLink::Origin origin{generation, worker, static_cast<std::uint8_t>(first), tally};
    post(front, [origin, links](Lane& lane) { lane.worker_up(origin, std::move(*links)); });
  }
}

void Application::on_worker_state(const ControlMessage& message, WorkerStatus::State state,
                                  core::Time now) {
  const std::uint16_t worker = worker_number(message);
  {
    const std::lock_guard lock(mutex_);
    const auto found = workers_.find(worker);
    if (found == workers_.end()) return;
    if (found->second.state != state) found->second.since = now;
    found->second.state = state;
    if (const auto pid = message.number("pid")) found->second.pid = *pid;
    found->second.why = std::string(message.text("why").value_or(""));
    forget_gone();
  }
  if (state == WorkerStatus::State::gone)
    post_all([worker](Lane& lane) { lane.worker_gone(worker); });
  fit_slots();
}

void Application::forget_gone() {
  const auto gone = [](const auto& entry) {
    return entry.second.state == WorkerStatus::State::gone;
  };
  const auto count = std::count_if(workers_.begin(), workers_.end(), gone);
  if (static_cast<std::size_t>(count) <= gone_remembered) return;
  workers_.erase(std::min_element(workers_.begin(), workers_.end(), [&](auto& one, auto& other) {
    if (gone(one) != gone(other)) return gone(one);
    return one.second.since < other.second.since;
  }));
}

// As many at a time as there are threads that take records, and a window. None while nobody takes.
// The loop itself takes what comes: what holds a slot there is an answer that goes on.
void Application::fit_slots() {
  std::size_t threads = 0;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [number, worker] : workers_) {
      if (worker.state != WorkerStatus::State::ready || worker.generation != generation_) continue;
      threads += options_.threads == 0 ? cells_per_thread_ : worker.threads;
    }
  }
  if (capacity_.exchange(threads) != threads)
    post_all([threads](Lane& lane) { lane.takers(threads); });
  const std::size_t slots = threads == 0 ? 0 : threads + window;
  admission_.resize(std::min<std::size_t>(slots, cells_per_thread_));
}

void Application::on_watch(const ControlMessage& message) {
  const std::lock_guard lock(mutex_);
  const auto found = workers_.find(worker_number(message));
  if (found != workers_.end()) found->second.tally->watched = true;
}

void Application::post_watch(const std::function<void(DemandWatch&)>& event) {
  if (!options_.demand) return;
  post(0, [this, event](Lane&) { event(*demand_watch_); });
}

void Application::on_target(const ControlMessage& message) {
  const auto workers = static_cast<unsigned>(message.number("workers").value_or(0));
  post_watch([workers](DemandWatch& watch) { watch.adopt(workers); });
}

// A flight is in the queue before the mark is looked at, and the watch clears the mark before it
// looks into the queue: one of them sees the other.
void Application::note_arrival(Asker asker) {
  if (asker == Asker::probe) ++probes_;
  if (asker == Asker::probe || !options_.demand || watched_.exchange(true)) return;
  post_watch([](DemandWatch& watch) { watch.wake(); });
}

void Application::note_end(Asker asker) {
  if (asker == Asker::probe) --probes_;
}

std::size_t Application::look_at_load() {
  watched_ = false;
  const std::size_t probes = probes_;
  const std::size_t all = admission_.load();
  if (all <= probes) return 0;
  watched_ = true;
  return all - probes;
}

void Application::on_state(const ControlMessage& message, core::Time now) {
  const auto state = message.text("state").value_or("");
  if (state == "starting") change_state(State::starting, now);
  if (state == "sleeping") change_state(State::sleeping, now);
  if (state == "ready") change_state(State::ready, now);
  post_watch([](DemandWatch& watch) { watch.on_state(); });
  if (state != "failed") return;
  cause_ = cause_text(message.text("cause").value_or(""));
  change_state(State::failed, now);
  post_all([](Lane& lane) { lane.unavailable(); });
}

void Application::change_state(State state, core::Time now) {
  const std::lock_guard lock(mutex_);
  if (starting_since_) started_for_ += now - *starting_since_;
  starting_since_.reset();
  if (state == State::starting) starting_since_ = now;
  if (state == State::sleeping) healthy_ = true;  // what the probe finds next is a new story
  state_ = state;
}

core::Duration Application::time_starting(core::Time now) const {
  const std::lock_guard lock(mutex_);
  const core::Duration present = starting_since_ ? now - *starting_since_ : core::Duration(0);
  return started_for_ + std::max(present, core::Duration(0));
}

void Application::report_liar(std::uint16_t worker) {
  core::log(core::Level::error, options_.name + ": worker " + std::to_string(worker) +
                                    " sent what is not an answer; it is replaced");
  tell("liar", worker);
}

void Application::tell(std::string_view verb, std::uint16_t worker) {
  ControlMessage message{std::string(verb), {}};
  tell_(record::format_control(message.set("worker", std::uint64_t{worker})));
}

void Application::report_answered(std::uint16_t worker) { tell("answered", worker); }

void Application::report_worked(std::uint16_t worker) { tell("worked", worker); }

void Application::report_due(std::uint16_t worker, std::uint64_t answers) {
  ControlMessage message{"due", {}};
  message.set("worker", std::uint64_t{worker}).set("answers", answers);
  tell_(record::format_control(message));
}

void Application::report_demand(unsigned workers) {
  tell_(
      record::format_control(ControlMessage{"demand", {}}.set("workers", std::uint64_t{workers})));
}

void Application::report_hang(const record::CellStatus& claim, const record::Record& request,
                              core::Time now) {
  const core::Time claimed{std::chrono::nanoseconds(claim.claimed_ns)};
  const auto waited = std::chrono::duration_cast<std::chrono::milliseconds>(now - claimed).count();
  ControlMessage message{"hanging", {}};
  message.set("worker", std::uint64_t{claim.worker}).set("thread", std::uint64_t{claim.thread});
  message.set("tid", std::uint64_t{claim.tid});
  message.set("waited", static_cast<std::uint64_t>(std::max<std::int64_t>(waited, 0)));
  name_request(message, request);
  tell_(record::format_control(message));
}

void Application::report_lost(std::uint16_t worker, const record::Record& request) {
  ControlMessage message{"lost", {}};
  message.set("worker", std::uint64_t{worker});
  name_request(message, request);
  tell_(record::format_control(message));
}

void Application::serve_in_loop(const record::Direct& direct) {
  post(0, [&direct](Lane& lane) { lane.serve_in_loop(direct); });
}

void Application::report_unclaimed() {
  tell_(record::format_control(ControlMessage{"unclaimed", {}}));
}

void Application::report_warmed(std::uint64_t generation, unsigned status, std::string_view why) {
  ControlMessage message{"warmed", {}};
  message.set("generation", generation).set("status", std::uint64_t{status});
  tell_(record::format_control(message.set("why", std::string(why))));
}

void Application::report_finished(std::uint64_t generation) {
  tell_(record::format_control(ControlMessage{"finished", {}}.set("generation", generation)));
}

std::vector<WorkerStatus> Application::workers() const {
  const std::lock_guard lock(mutex_);
  std::vector<WorkerStatus> workers;
  for (const auto& [number, worker] : workers_) workers.push_back(worker);
  return workers;
}

}  // namespace portico::backend
