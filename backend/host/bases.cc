#include "backend/host/bases.h"

#include <signal.h>

#include <algorithm>
#include <utility>

#include "proxy/core/log.h"
#include "proxy/process/death.h"
#include "proxy/process/session.h"

namespace portico::backend {
namespace {

using core::Time;
using record::ControlMessage;

// What a base may take for its import and an order; the site's own import needs its time as well.
// Frameworks take a second, on a cold disk several.
constexpr core::Duration longest_wait = std::chrono::seconds(20);
// What one process may say a turn.
constexpr int messages_a_turn = 64;

constexpr const char* remedy =
    "mend it, or take it out of \"shared_imports\"; it is tried again at the next deploy";

}  // namespace

Bases::~Bases() {
  for (auto& base : bases_) base->kill();
}

std::unique_ptr<Birth> Bases::ask(core::Active& owner, const conf::Application& application,
                                  const HostOptions& options, const Launch& launch,
                                  EngineProcess::Ends ends) {
  options_ = &options;
  const core::Duration wait =
      std::min<core::Duration>(longest_wait, application.timeouts.start / 2);
  auto birth = std::make_unique<Birth>(owner, ++last_serial_, std::move(ends), loop().now() + wait);
  const std::string own = own_module(application);
  own.empty() ? place(*birth, kind_of(application, launch))
              : birth->refuse(own +
                              " has the name of a shared one, and would not be found; rename "
                              "it, or write \"shared_imports: []\" for this application");
  look_again();
  return birth;
}

void Bases::place(Birth& birth, const BaseKind& kind) {
  std::string reason;
  Base* base = find_or_start(kind, reason);
  base != nullptr ? base->add(birth) : birth.refuse(std::move(reason));
}

/// Null, with a reason: there is none for now.
Base* Bases::find_or_start(const BaseKind& kind, std::string& reason) {
  for (const auto& base : bases_)
    if (base->serves(kind)) return base.get();
  Trouble& trouble = trouble_of(kind);
  reason = stopping_ ? "Portico stops" : trouble.reason;
  if (stopping_ || trouble.until > loop().now()) return nullptr;
  trouble.backoff.started(loop().now());
  auto started = Base::start(*this, kind, *options_, "base " + std::to_string(++last_number_));
  if (!started) {
    reason = kind.python + ": " + core::describe(started.error());
    return nullptr;
  }
  bases_.push_back(std::move(*started));
  wake();  // to listen to it
  return bases_.back().get();
}

// Those whose time is over and that are no worse than new go, so that the list stays short.
Bases::Trouble& Bases::trouble_of(const BaseKind& kind) {
  const Time now = loop().now();
  std::erase_if(troubles_, [&](const Trouble& one) {
    return one.kind != kind && one.until + process::Backoff::healthy < now;
  });
  for (Trouble& one : troubles_)
    if (one.kind == kind) return one;
  return troubles_.emplace_back(Trouble{kind, {}, now, {}});
}

void Bases::advance() {
  for (std::size_t i = 0; i < bases_.size(); ++i) {  // hearing one may start another
    hear(*bases_[i]);
    check(*bases_[i]);
  }
  std::erase_if(bases_, [this](const auto& base) { return base->is_gone(loop().now()); });
  look_again();
}

void Bases::look_again() {
  Time next = Time::max();
  for (const auto& base : bases_) next = std::min(next, base->next_look());
  next == Time::max() ? timer_.clear() : timer_.set(next);
}

void Bases::hear(Base& base) {
  if (base.state() == Base::State::ended) return;
  for (int i = 0; i < messages_a_turn; ++i) {
    const auto heard = base.hear();
    if (!heard) return;
    on_message(base, *heard);
  }
  wake();
}

void Bases::on_message(Base& base, const ControlMessage& heard) {
  if (heard.verb == record::verb::imported) {
    on_imported(base, heard);
  } else if (heard.verb == record::verb::failed) {
    give_up(base, "importing " + std::string(heard.text("reason").value_or("it")) + "; " + remedy);
  } else if (heard.verb == record::verb::born) {
    on_born(base, heard);
  } else if (heard.verb == record::verb::changed) {
    on_changed(base, heard);
  }
}

void Bases::on_imported(Base& base, const ControlMessage& heard) {
  if (base.state() != Base::State::importing) return;
  if (const auto unfit = heard.text("unfit"))
    return give_up(base, "importing the shared ones leaves behind " + std::string(*unfit) +
                             ", which zygotes forked from there would share or miss; " + remedy);
  trouble_of(base.kind()).backoff.proved();
  base.imported();
}

void Bases::on_born(Base& base, const ControlMessage& heard) {
  Birth* birth = base.find(heard.number("serial").value_or(0));
  const auto pid = static_cast<pid_t>(heard.number("pid").value_or(0));
  if (birth == nullptr) return;  // it was taken back: the process finds its control socket closed
  may_be_of(base.kind(), pid)
      ? birth->succeeded(pid)
      : birth->refuse("the base could not fork (its lines in the log say why)");
}

// What it has imported is not what lies there now: no code of before a deploy may serve after it.
void Bases::on_changed(Base& base, const ControlMessage& heard) {
  if (base.find(heard.number("serial").value_or(0)) == nullptr) return;
  const std::string what(heard.text("what").value_or("something"));
  base.say(core::Level::info, what + " has changed; another base takes its place");
  base.leave(loop().now());
  for (Birth* birth : base.take_awaited())
    birth->moves_on() ? place(*birth, base.kind())
                      : birth->refuse(what + " changes again and again");
}

void Bases::give_up(Base& base, const std::string& reason) {
  Trouble& trouble = trouble_of(base.kind());
  trouble.until = loop().now() + trouble.backoff.died(loop().now());
  trouble.reason = reason;
  base.leave(loop().now());
  for (Birth* birth : base.take_awaited()) birth->refuse(reason);
}

void Bases::check(Base& base) {
  const Time now = loop().now();
  if (base.is_stuck(now)) {
    if (base.state() != Base::State::leaving) give_up(base, "the base does not answer in time");
    base.kill();
  }
  if (base.is_unused(now)) base.leave(now);
}

bool Bases::child_ended(pid_t pid, int wait_status) {
  const auto found = std::find_if(bases_.begin(), bases_.end(),
                                  [&](const auto& base) { return base->pid() == pid; });
  if (found == bases_.end()) return false;
  Base& base = **found;
  hear(base);  // its last words come before its end
  if (base.state() != Base::State::leaving) {
    const std::string how = "the base " + process::describe_death(wait_status);
    base.say(core::Level::error, how + "; the sites that came of it go on");
    give_up(base, how);
  }
  process::kill_session(pid);
  base.ended(loop().now());
  wake();
  return true;
}

void Bases::stop() {
  stopping_ = true;
  for (auto& base : bases_) {
    base->leave(loop().now());
    for (Birth* birth : base->take_awaited()) birth->refuse("Portico stops");
  }
  look_again();
}

bool Bases::stopped() const {
  return std::all_of(bases_.begin(), bases_.end(),
                     [](const auto& base) { return base->state() == Base::State::ended; });
}

}  // namespace portico::backend
