// Application: what the front knows of one WSGI application: its state, its workers, its queue.
//
// Shared by the front threads. The main thread hears the supervisor (hear); each front thread has a
// Lane. record/README.md has the messages from and to the supervisor.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backend/front/demand_watch.h"
#include "backend/front/lane.h"
#include "backend/front/spool.h"
#include "backend/record/cells.h"
#include "backend/record/control.h"
#include "backend/record/record.h"
#include "conf/config.h"
#include "proxy/core/admission.h"
#include "proxy/core/fd.h"
#include "proxy/core/loop.h"

namespace portico::backend {

/// One worker, as status tells it.
struct WorkerStatus {
  enum class State { starting, ready, leaving, gone };
  std::uint16_t worker = 0;
  std::uint64_t pid = 0;
  unsigned threads = 1;
  std::uint64_t generation = 0;
  State state = State::starting;
  core::Time since;
  std::string why;  ///< of gone: "killed by signal 9", ...
  SharedTally tally;
};

class Application {
 public:
  enum class State { starting, ready, failed, sleeping };
  /// Says something to the application's service in the supervisor; any thread.
  using Tell = std::function<void(std::string_view text)>;

  Application(const conf::Application& options, unsigned front_threads, Spool& spool, Tell tell);
  ~Application();

  const conf::Application& options() const { return options_; }
  Spool& spool() { return spool_; }
  core::Admission& admission() { return admission_; }
  Lane& lane(unsigned thread) { return *lanes_[thread]; }

  State state() const { return state_; }
  /// A literal that says why the state is failed, such as "importing the application".
  std::string_view cause() const { return cause_.load(); }
  /// Whether requests wait for its start, or for that of the first request.
  bool starts() const { return state_ == State::starting || state_ == State::sleeping; }
  std::vector<WorkerStatus> workers() const;
  /// What the health probe found; true when there is none.
  bool healthy() const { return healthy_; }
  void set_healthy(bool healthy) { healthy_ = healthy; }

  /// How long altogether, until `now`, it was starting: with no worker ready, and not failed.
  core::Duration time_starting(core::Time now) const;

  void attach(core::Loop& loop);  ///< in each front thread before it serves
  void detach(core::Loop& loop);  ///< in each front thread, when it serves no more
  /// What the supervisor says at `now`; main thread. Nonsense is logged and leaves all as it is.
  void hear(std::string_view text, std::vector<core::Fd> fds, core::Time now);
  /// An embedded application without threads: the lane of the only front thread calls it, from the
  /// next turn on. Main thread.
  void serve_in_loop(const record::Direct& direct);
  // The load, for workers that come and go; any thread.
  /// A flight has entered the queue.
  void note_arrival(Asker asker);
  void note_end(Asker asker);
  /// Requests of clients that run or wait now. While there are any, arrivals do not wake the watch.
  std::size_t look_at_load();
  void look_away() { watched_ = false; }              ///< the next arrival wakes the watch
  std::size_t capacity() const { return capacity_; }  ///< threads that take records

  void report_demand(unsigned workers);
  void report_liar(std::uint16_t worker);
  void report_answered(std::uint16_t worker);
  void report_due(std::uint16_t worker, std::uint64_t answers);  ///< it has answered enough
  void report_worked(std::uint16_t worker);  ///< it was watched, and has answered
  /// The worker of this claim is over its time with this request.
  void report_hang(const record::CellStatus& claim, const record::Record& request, core::Time now);
  void report_lost(std::uint16_t worker, const record::Record& request);
  /// A record lay before the workers for all of timeouts.queue: those that do nothing hang.
  void report_unclaimed();
  /// What the generation that stands by answered; 0: nothing, and why.
  void report_warmed(std::uint64_t generation, unsigned status, std::string_view why);
  void report_finished(std::uint64_t generation);  ///< nothing is sent there any more

 private:
  using Event = std::function<void(Lane&)>;
  struct Letter;

  void post(unsigned thread, Event event);
  void post_all(const Event& event);
  void on_queue(const record::ControlMessage& message, std::vector<core::Fd> fds);
  void on_switch(const record::ControlMessage& message);
  void on_warm(const record::ControlMessage& message);
  void on_worker(const record::ControlMessage& message, std::vector<core::Fd> fds, core::Time now);
  void on_worker_state(const record::ControlMessage& message, WorkerStatus::State state,
                       core::Time now);
  void on_watch(const record::ControlMessage& message);
  void on_target(const record::ControlMessage& message);
  void on_state(const record::ControlMessage& message, core::Time now);
  void post_watch(const std::function<void(DemandWatch&)>& event);
  void change_state(State state, core::Time now);
  void forget_gone();
  void fit_slots();
  void tell(std::string_view verb, std::uint16_t worker);

  conf::Application options_;
  unsigned front_threads_;
  Spool& spool_;
  Tell tell_;
  core::Admission admission_;
  std::atomic<State> state_ = State::starting;
  std::atomic<const char*> cause_ = "handing it to a worker";
  std::atomic<bool> healthy_ = true;
  std::atomic<std::size_t> capacity_ = 0;
  std::atomic<bool> watched_ = false;  // the watch looks by itself, while there are requests
  std::atomic<unsigned> probes_ = 0;   // flights of the health probe
  std::uint32_t cells_per_thread_ = 0;
  std::uint64_t generation_ = 0;  // whose workers give the slots; main thread

  mutable std::mutex mutex_;                  // for what follows
  std::optional<core::Time> starting_since_;  // nothing: it does not start, or nothing was heard
  core::Duration started_for_{};              // in earlier starts
  std::map<std::uint16_t, WorkerStatus> workers_;
  std::vector<core::Loop*> loops_;           // by thread; null while not attached
  std::vector<std::vector<Event>> pending_;  // by thread: what came before it was attached
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::unique_ptr<DemandWatch> demand_watch_;  // front thread 0; where workers come and go
};

}  // namespace portico::backend
