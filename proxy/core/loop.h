// The loop of one thread: wakes that are queued and never nested, deadlines, a mailbox, objects to
// retire.
//
// One per thread; everything here but post() belongs to that thread. In a test a Loop is driven by
// hand (Loop::Drive::by_hand): no descriptor is watched, turn() runs what is queued and pass()
// moves the clock.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "proxy/core/list.h"

struct ev_loop;

namespace portico::core {

using Clock = std::chrono::steady_clock;
using Time = Clock::time_point;
using Duration = Clock::duration;

class Loop;
class Moment;
class Timer;
class Wakeup;
class Watch;

/// Anything that a loop can destroy after the turn.
class Disposable {
 public:
  virtual ~Disposable() = default;
};

/// A state machine that the loop drives. Wakes while it is queued are one wake.
class Active : public Disposable, public Link<Active> {
 public:
  explicit Active(Loop& loop) : loop_(loop) {}
  Active(const Active&) = delete;
  Active& operator=(const Active&) = delete;
  ~Active() override;

  virtual void advance() = 0;  ///< go as far as possible without waiting, then return

  Loop& loop() const { return loop_; }
  void wake();

 private:
  friend class Loop;
  friend class Wakeup;
  void forget();  ///< out of the queue, and no Wakeup points here any more

  Loop& loop_;
  List<Wakeup> wakeups_;
  bool retired_ = false;  // waits only to be destroyed
};

/// "Wake this one when there is more": forgets its target when the target dies first.
class Wakeup : public Link<Wakeup> {
 public:
  void aim(Active& target) {
    target_ = &target;
    target.wakeups_.push_back(*this);
  }
  bool aimed() const { return linked(); }
  /// Wakes the target, once; nothing happens when there is none.
  void fire() {
    if (!linked()) return;
    unlink();
    target_->wake();
  }

 private:
  Active* target_ = nullptr;  // valid while linked
};

class Loop {
 public:
  enum class Drive { by_events, by_hand };
  /// How long Watch::want_soon waits: a fast answer's time, on a busy front too.
  static constexpr Duration soon = std::chrono::milliseconds(10);
  static constexpr Duration moment = std::chrono::milliseconds(1);  ///< how long a Moment is

  /// index  the number of the front thread, from 0; handlers keep what is a thread's own under it
  explicit Loop(Drive drive = Drive::by_events, unsigned index = 0);
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;
  ~Loop();

  unsigned index() const { return index_; }
  Time now() const { return now_; }  ///< read once a turn

  void wake(Active& active);  ///< queued: runs once, from the top of the loop
  /// Unlinked now (no advance() after this call), destroyed after this turn.
  void retire(std::unique_ptr<Active> active);
  void dispose(std::unique_ptr<Disposable> object);  ///< destroyed after this turn
  /// For the few that outlive their makers, such as a connection's last moments: the loop owns it
  /// until it is dismissed (or the loop ends), and wakes it once.
  void adopt(std::unique_ptr<Active> active);
  void dismiss(Active& active);  ///< an adopted one: retired
  /// The only call that another thread may make: fn(argument) runs in this loop's thread. If the
  /// loop ends first, drop(argument) frees it instead.
  void post(void (*fn)(void*), void* argument, void (*drop)(void*) = nullptr);

  void run();   ///< until stop()
  void stop();  ///< from this loop's thread
  /// By hand: runs what is queued, posted and due, until nothing is left.
  void turn();
  void pass(Duration time);  ///< by hand: moves the clock, then turn()

  struct ev_loop* events() const {
    return events_;
  }  ///< for core/watch; null when driven by hand

 private:
  friend class Moment;
  friend class Timer;
  friend class Watch;
  struct Mail {
    void (*fn)(void*);
    void* argument;
    void (*drop)(void*);
  };
  struct EventState;

  void enter_turn();
  void run_queue();
  void drop_mail();
  void bury();
  void deliver();
  void expire();
  void start_soon(Watch& watch);
  void start_watches();
  void expire_moments();
  Time next_alarm();
  void arm_alarm();
  void schedule(Timer& timer);
  void unschedule(Timer& timer);
  void place(std::size_t hole, Timer* timer);
  void sift_up(std::size_t at);
  void sift_down(std::size_t at);

  unsigned index_;
  Time now_;
  bool stopped_ = false;
  List<Active> queue_;
  List<Watch> starting_;  // in the order of their times
  List<Moment> moments_;  // likewise
  std::vector<std::unique_ptr<Disposable>> dying_;
  std::unordered_map<Active*, std::unique_ptr<Active>> adopted_;
  Time armed_for_ = Time::max();
  std::vector<Timer*> timers_;  // a binary heap by Timer::scheduled_
  std::mutex mail_mutex_;
  std::vector<Mail> mail_;
  std::atomic<bool> has_mail_ = false;  // set under the mutex
  std::unique_ptr<EventState> state_;
  struct ev_loop* events_ = nullptr;
};

}  // namespace portico::core
