// Birth: one zygote that a base is to make: the order, and what has come of it.
//
// Owned by the Zygote, for as long as that runs: a base stays while there are any. Destroying it is
// taking the order back. The supervisor's thread; Base fills it in.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <utility>

#include "backend/host/engine_process.h"
#include "proxy/core/loop.h"

namespace portico::backend {

class Base;

class Birth {
 public:
  /// awaited  the base imports yet, or has been told
  /// born     pid() is a child of this process, and waits to be told what it is
  /// refused  there will be none; reason() says why, and what to do
  enum class State : std::uint8_t { awaited, born, refused };

  /// owner   is woken when the state has changed
  /// serial  used once
  /// by      no longer than that it is waited for
  Birth(core::Active& owner, std::uint64_t serial, EngineProcess::Ends ends, core::Time by)
      : owner_(owner), serial_(serial), ends_(std::move(ends)), by_(by) {}
  ~Birth();
  Birth(const Birth&) = delete;
  Birth& operator=(const Birth&) = delete;

  State state() const { return state_; }
  bool is_awaited() const { return state_ == State::awaited; }
  pid_t pid() const { return pid_; }
  pid_t base() const;  ///< its process; 0: it has ended
  const std::string& reason() const { return reason_; }

  std::uint64_t serial() const { return serial_; }
  const EngineProcess::Ends& ends() const { return ends_; }
  core::Time by() const { return by_; }

  void belongs_to(Base* base) { base_ = base; }
  /// Its base has found that it is out of date. False: so have the ones before it, too many of
  /// them. Where a deploy follows an upgrade at once, its first base may be as old as the files
  /// that it reads, too close to tell which came first, and the next one as well.
  bool moves_on() { return ++moves_ < most_moves; }
  void succeeded(pid_t pid);
  void refuse(std::string reason);

 private:
  static constexpr unsigned most_moves = 4;

  void settle(State state);

  core::Active& owner_;
  const std::uint64_t serial_;
  EngineProcess::Ends ends_;  // until it is settled
  const core::Time by_;
  Base* base_ = nullptr;  // null: it has ended, or there was none
  State state_ = State::awaited;
  unsigned moves_ = 0;
  pid_t pid_ = 0;
  std::string reason_;
};

}  // namespace portico::backend
