#include "backend/host/birth.h"

#include "backend/host/base.h"

namespace portico::backend {

Birth::~Birth() {
  if (base_ != nullptr) base_->remove(*this);
}

pid_t Birth::base() const { return base_ != nullptr ? base_->pid() : 0; }

void Birth::succeeded(pid_t pid) {
  pid_ = pid;
  settle(State::born);
}

void Birth::refuse(std::string reason) {
  reason_ = std::move(reason);
  settle(State::refused);
}

// From here on the process alone has its ends: where it closes them, they are closed.
void Birth::settle(State state) {
  state_ = state;
  ends_ = {};
  owner_.wake();
}

}  // namespace portico::backend
