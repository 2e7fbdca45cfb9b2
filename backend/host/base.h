// Base: a process of Python that has imported what several sites share, and forks their zygotes.
//
// Owned by Bases, in the supervisor's thread. It runs as the user of those sites, who may write to
// what it imports, and is trusted no more than they are. The zygotes are children of the
// supervisor, not of it: its end is none of theirs. The messages are in record/README.md.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backend/host/birth.h"
#include "backend/host/engine_process.h"
#include "proxy/process/site_log.h"

namespace portico::backend {

/// What sites must have in common to share a base: all that an interpreter and its packages are
/// started with.
struct BaseKind {
  std::string python;  ///< the interpreter's path, symlinks followed as in resolve_code()
  std::optional<process::Identity> identity;  ///< whom it becomes; none: it stays as we are
  std::vector<std::string> environment;       ///< "NAME=value", in order of names
  std::vector<std::string> modules;           ///< in the order in which they are imported

  friend bool operator==(const BaseKind&, const BaseKind&) = default;
};

/// Of the environment only what an interpreter or the libraries that it loads look at themselves.
BaseKind kind_of(const conf::Application& application, const Launch& launch);

/// What lies in the application's directory under the name of a module that is to be shared, as a
/// path; empty: nothing does.
std::string own_module(const conf::Application& application);

class Base {
 public:
  /// importing  the interpreter runs
  /// ready      it makes zygotes
  /// leaving    it makes none any more: out of date, not used, unfit, or its import has failed
  /// ended      wait has told its end; its output may go on
  enum class State : std::uint8_t { importing, ready, leaving, ended };

  /// tag  what its lines in the log begin with
  static core::Result<std::unique_ptr<Base>> start(core::Active& owner, const BaseKind& kind,
                                                   const HostOptions& options,
                                                   const std::string& tag);
  ~Base();

  const BaseKind& kind() const { return kind_; }
  State state() const { return state_; }
  pid_t pid() const { return process_->pid(); }
  bool serves(const BaseKind& kind) const {
    return (state_ == State::importing || state_ == State::ready) && kind_ == kind;
  }
  void say(core::Level level, const std::string& text) { log_.say(level, text); }

  std::optional<record::ControlMessage> hear() { return process_->hear(); }
  void imported();  ///< those that wait are ordered now

  /// Makes this zygote, once it can.
  void add(Birth& birth);
  /// It was taken back, or its zygote has ended.
  void remove(Birth& birth);
  Birth* find(std::uint64_t serial) const;
  /// Takes from it what it has not made yet.
  std::vector<Birth*> take_awaited();

  void leave(core::Time now);
  void ended(core::Time now);
  /// Something is overdue: an order, or its own end; and when that will be at the earliest.
  bool is_stuck(core::Time now) const;
  bool is_unused(core::Time now) const { return births_.empty() && leave_at_ <= now; }
  bool is_gone(core::Time now) const;
  core::Time next_look() const;
  void kill();  ///< its end is what wait says

 private:
  Base(core::Active& owner, BaseKind kind, const std::string& tag)
      : owner_(owner),
        kind_(std::move(kind)),
        log_(tag, std::make_shared<process::RecentLines>()) {}
  void order(const Birth& birth);

  core::Active& owner_;
  const BaseKind kind_;
  process::SiteLog log_;  // before what writes into it
  std::unique_ptr<EngineProcess> process_;
  std::unique_ptr<process::Output> output_;  // of one that has ended
  State state_ = State::importing;
  std::vector<Birth*> births_;               // awaited, and of zygotes that run
  core::Time leave_at_ = core::Time::max();  // when it is of no use any more
  core::Time give_up_ = core::Time::max();   // on its end, or on its last words
};

/// Whether `pid` may be a zygote that this base has made: a child of ours with the same user.
bool may_be_of(const BaseKind& kind, pid_t pid);

}  // namespace portico::backend
