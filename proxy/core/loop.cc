#include "proxy/core/loop.h"

#include <ev.h>

#include <algorithm>
#include <utility>

#include "proxy/core/timer.h"
#include "proxy/core/watch.h"

namespace portico::core {
namespace {

// Rounds of wakes between two looks at the descriptors: a relay's hop to and fro takes four.
constexpr int rounds_a_turn = 16;

}  // namespace

struct Loop::EventState {
  ev_async mail;
  ev_timer alarm;
};

Active::~Active() { forget(); }

void Active::forget() {
  unlink();
  wakeups_.for_each([](Wakeup& wakeup) { wakeup.unlink(); });
}

void Active::wake() { loop_.wake(*this); }

Loop::Loop(Drive drive, unsigned index) : index_(index), now_(Clock::now()) {
  if (drive == Drive::by_hand) return;
  events_ = ev_loop_new(EVFLAG_AUTO | EVFLAG_NOENV);
  state_ = std::make_unique<EventState>();
  ev_async_init(&state_->mail, [](struct ev_loop*, ev_async*, int) {});
  ev_timer_init(
      &state_->alarm, [](struct ev_loop*, ev_timer*, int) {}, 0., 0.);
  ev_async_start(events_, &state_->mail);
}

Loop::~Loop() {
  adopted_.clear();
  bury();
  drop_mail();
  if (events_ == nullptr) return;
  ev_async_stop(events_, &state_->mail);
  ev_timer_stop(events_, &state_->alarm);
  ev_loop_destroy(events_);
}

void Loop::wake(Active& active) {
  if (!active.linked() && !active.retired_) queue_.push_back(active);
}

void Loop::retire(std::unique_ptr<Active> active) {
  active->forget();
  active->retired_ = true;
  dying_.push_back(std::move(active));
}

void Loop::dispose(std::unique_ptr<Disposable> object) { dying_.push_back(std::move(object)); }

void Loop::adopt(std::unique_ptr<Active> active) {
  Active& adopted = *active;
  adopted_.emplace(&adopted, std::move(active));
  wake(adopted);
}

void Loop::dismiss(Active& active) {
  auto node = adopted_.extract(&active);
  if (node) retire(std::move(node.mapped()));
}

void Loop::post(void (*fn)(void*), void* argument, void (*drop)(void*)) {
  {
    const std::lock_guard lock(mail_mutex_);
    mail_.push_back({fn, argument, drop});
    has_mail_ = true;
  }
  if (events_ != nullptr) ev_async_send(events_, &state_->mail);
}

void Loop::deliver() {
  if (!has_mail_) return;
  std::vector<Mail> mail;
  {
    const std::lock_guard lock(mail_mutex_);
    mail.swap(mail_);
    has_mail_ = false;
  }
  for (const Mail& letter : mail) letter.fn(letter.argument);
}

void Loop::drop_mail() {
  const std::lock_guard lock(mail_mutex_);
  for (const Mail& letter : mail_) {
    if (letter.drop != nullptr) letter.drop(letter.argument);
  }
  mail_.clear();
}

void Loop::run_queue() {
  for (int round = 0; round < rounds_a_turn && !queue_.empty(); ++round) {
    List<Active> batch;
    batch.take(queue_);
    while (!batch.empty()) batch.pop_front().advance();
  }
}

// What is destroyed may retire more.
void Loop::bury() {
  while (!dying_.empty()) {
    auto dying = std::move(dying_);
    dying_.clear();
    dying.clear();
  }
}

void Loop::enter_turn() {
  if (events_ != nullptr) now_ = Clock::now();
  deliver();
  expire();
  expire_moments();
  run_queue();
  bury();
}

void Loop::run() {
  stopped_ = false;
  enter_turn();
  while (!stopped_) {
    start_watches();
    arm_alarm();
    ev_run(events_, queue_.empty() ? EVRUN_ONCE : EVRUN_NOWAIT);
    enter_turn();
  }
}

void Loop::stop() { stopped_ = true; }

void Loop::turn() {
  do {
    enter_turn();
  } while (!queue_.empty() || !mail_.empty());
}

void Loop::pass(Duration time) {
  now_ += time;
  turn();
}

void Loop::start_soon(Watch& watch) {
  watch.start_at_ = now_ + soon;
  starting_.push_back(watch);
}

void Loop::start_watches() {
  while (!starting_.empty() && starting_.front().start_at_ <= now_) starting_.pop_front().start();
}

Time Loop::next_alarm() {
  Time next = timers_.empty() ? Time::max() : timers_.front()->scheduled_;
  if (!starting_.empty()) next = std::min(next, starting_.front().start_at_);
  if (!moments_.empty()) next = std::min(next, moments_.front().deadline_);
  return next;
}

void Loop::arm_alarm() {
  const Time next = next_alarm();
  if (next == armed_for_ && ev_is_active(&state_->alarm)) return;
  armed_for_ = next;
  if (next == Time::max()) {
    ev_timer_stop(events_, &state_->alarm);
    return;
  }
  // libev counts from its own idea of now, which is that of the last poll: a little early is only a
  // needless turn, never a late one.
  const std::chrono::duration<double> wait = next - now_;
  ev_timer_stop(events_, &state_->alarm);
  ev_timer_set(&state_->alarm, wait.count() > 0 ? wait.count() : 0., 0.);
  ev_timer_start(events_, &state_->alarm);
}

// A timer whose deadline has moved is put where it now belongs; one that is due leaves and wakes.
void Loop::expire() {
  while (!timers_.empty() && timers_.front()->scheduled_ <= now_) {
    Timer& timer = *timers_.front();
    if (timer.deadline_ <= now_) {
      unschedule(timer);
      timer.owner_.wake();
    } else if (timer.is_set()) {
      schedule(timer);
    } else {
      unschedule(timer);
    }
  }
}

void Loop::expire_moments() {
  while (!moments_.empty() && moments_.front().deadline_ <= now_)
    moments_.pop_front().owner_.wake();
}

void Loop::schedule(Timer& timer) {
  timer.scheduled_ = timer.deadline_;
  if (timer.place_ == Timer::nowhere) {
    timers_.push_back(&timer);
    timer.place_ = timers_.size() - 1;
    sift_up(timer.place_);
    return;
  }
  sift_up(timer.place_);
  sift_down(timer.place_);
}

void Loop::unschedule(Timer& timer) {
  const std::size_t hole = timer.place_;
  if (hole == Timer::nowhere) return;
  timer.place_ = Timer::nowhere;
  Timer* last = timers_.back();
  timers_.pop_back();
  if (last == &timer) return;
  place(hole, last);
  sift_up(hole);
  sift_down(last->place_);
}

void Loop::place(std::size_t hole, Timer* timer) {
  timers_[hole] = timer;
  timer->place_ = hole;
}

void Loop::sift_up(std::size_t at) {
  Timer* timer = timers_[at];
  while (at > 0) {
    const std::size_t parent = (at - 1) / 2;
    if (timers_[parent]->scheduled_ <= timer->scheduled_) break;
    place(at, timers_[parent]);
    at = parent;
  }
  place(at, timer);
}

void Loop::sift_down(std::size_t at) {
  Timer* timer = timers_[at];
  for (;;) {
    std::size_t child = 2 * at + 1;
    if (child >= timers_.size()) break;
    if (child + 1 < timers_.size() && timers_[child + 1]->scheduled_ < timers_[child]->scheduled_)
      ++child;
    if (timer->scheduled_ <= timers_[child]->scheduled_) break;
    place(at, timers_[child]);
    at = child;
  }
  place(at, timer);
}

}  // namespace portico::core
