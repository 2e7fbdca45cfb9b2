#include "proxy/core/admission.h"

namespace portico::core {

// Freed by the owner's thread: by the ticket when it leaves first, by the letter when it arrives
// first.
struct Ticket::Notice {
  Ticket* ticket;
  static void arrive(void* argument) {
    auto* notice = static_cast<Notice*>(argument);
    if (notice->ticket != nullptr) {
      notice->ticket->notice_ = nullptr;
      notice->ticket->owner_.wake();
    }
    delete notice;
  }
  static void drop(void* argument) { delete static_cast<Notice*>(argument); }
};

bool Ticket::enter(Admission& admission) {
  const std::lock_guard lock(admission.mutex_);
  if (admission.used_ < admission.slots_ && admission.queue_.empty()) {
    ++admission.used_;
    state_ = State::admitted;
  } else if (admission.waiting_ < admission.queue_limit_) {
    admission.queue_.push_back(*this);
    ++admission.waiting_;
    state_ = State::waiting;
  } else {
    return false;
  }
  admission_ = &admission;
  return true;
}

bool Ticket::admitted() const {
  if (admission_ == nullptr) return false;
  const std::lock_guard lock(admission_->mutex_);
  return state_ == State::admitted;
}

bool Ticket::waiting() const {
  if (admission_ == nullptr) return false;
  const std::lock_guard lock(admission_->mutex_);
  return state_ == State::waiting;
}

void Ticket::leave() {
  if (admission_ == nullptr) return;
  const std::lock_guard lock(admission_->mutex_);
  if (state_ == State::waiting) {
    unlink();
    --admission_->waiting_;
  } else if (state_ == State::admitted) {
    --admission_->used_;
    admission_->admit_next();
  }
  if (notice_ != nullptr) notice_->ticket = nullptr;
  notice_ = nullptr;
  state_ = State::out;
  admission_ = nullptr;
}

void Admission::admit_next() {
  while (used_ < slots_ && !queue_.empty()) {
    Ticket& next = queue_.pop_front();
    --waiting_;
    ++used_;
    next.state_ = Ticket::State::admitted;
    next.notice_ = new Ticket::Notice{&next};
    next.owner_.loop().post(&Ticket::Notice::arrive, next.notice_, &Ticket::Notice::drop);
  }
}

void Admission::resize(std::size_t slots) {
  const std::lock_guard lock(mutex_);
  slots_ = slots;
  admit_next();
}

std::size_t Admission::load() const {
  const std::lock_guard lock(mutex_);
  return used_ + waiting_;
}

std::size_t Admission::in_use() const {
  const std::lock_guard lock(mutex_);
  return used_;
}

std::size_t Admission::waiting() const {
  const std::lock_guard lock(mutex_);
  return waiting_;
}

}  // namespace portico::core
