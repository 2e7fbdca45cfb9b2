// Timer and Moment: one deadline of one Active, which is woken when it has passed. One thread.
//
// Moving a deadline to a later time, as every request on a kept connection does, only stores it:
// the loop finds out when the earlier time comes, and then waits on.
#pragma once

#include "proxy/core/loop.h"

namespace portico::core {

class Timer {
 public:
  explicit Timer(Active& owner) : owner_(owner) {}
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;
  ~Timer() { owner_.loop().unschedule(*this); }

  void set(Time deadline) {
    deadline_ = deadline;
    if (place_ == nowhere || deadline < scheduled_) owner_.loop().schedule(*this);
  }
  void set_after(Duration wait) { set(owner_.loop().now() + wait); }
  void clear() { deadline_ = never; }

  bool is_set() const { return deadline_ != never; }
  bool due() const { return is_set() && owner_.loop().now() >= deadline_; }
  Time deadline() const { return deadline_; }

 private:
  friend class Loop;
  static constexpr Time never = Time::max();
  static constexpr std::size_t nowhere = static_cast<std::size_t>(-1);

  Active& owner_;
  Time deadline_ = never;
  Time scheduled_ = never;       // when the loop looks; never later than deadline_ while it is set
  std::size_t place_ = nowhere;  // in the loop's heap
};

/// A deadline Loop::moment from when it is set: for a wait that nearly always ends before. Setting
/// and clearing cost next to nothing, and what was cleared the loop never looks at.
class Moment : public Link<Moment> {
 public:
  explicit Moment(Active& owner) : owner_(owner) {}

  void set() {
    Loop& loop = owner_.loop();
    deadline_ = loop.now() + Loop::moment;
    loop.moments_.push_back(*this);
  }
  void clear() {
    unlink();
    deadline_ = Time::max();
  }
  bool is_set() const { return deadline_ != Time::max(); }
  bool due() const { return owner_.loop().now() >= deadline_; }

 private:
  friend class Loop;
  Active& owner_;
  Time deadline_ = Time::max();
};

}  // namespace portico::core
