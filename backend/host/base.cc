#include "backend/host/base.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <utility>

#include "backend/host/zygote.h"
#include "conf/check.h"

namespace portico::backend {
namespace {

using core::Time;
using record::ControlMessage;

// A site that restarts, or the next one that wakes, finds it still there.
constexpr core::Duration unused_time = std::chrono::seconds(5);
// What it may take to end when told to, and its output to end after it.
constexpr core::Duration leaving_time = std::chrono::seconds(1);

// What `ps` shows; its zygotes write the site's name over it, for which there must be room.
std::string title() {
  constexpr std::size_t room = 100;
  std::string text = "base";
  text.resize(room, ' ');
  return text;
}

bool starts_with_any(std::string_view name, std::initializer_list<std::string_view> beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(),
                     [&](std::string_view one) { return name.starts_with(one); });
}

bool is_of_the_interpreter(std::string_view name) {
  constexpr std::string_view names[] = {"LANG", "LANGUAGE", "TZ",  "HOME",
                                        "USER", "LOGNAME",  "PATH"};
  return std::find(std::begin(names), std::end(names), name) != std::end(names) ||
         starts_with_any(name, {"PYTHON", "LC_", "LD_", "GLIBC_", "MALLOC_", "OPENSSL_", "OMP_",
                                "OPENBLAS_", "MKL_"}) ||
         name.ends_with("SAN_OPTIONS");
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ",") + word;
  return text;
}

/// "Uid:\t33\t33\t33\t33" in /proc/PID/status: the real one comes first.
std::optional<uid_t> user_of(pid_t pid) {
  std::ifstream in("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("Uid:"))
      return static_cast<uid_t>(std::strtoul(line.c_str() + 4, nullptr, 10));
  }
  return std::nullopt;
}

}  // namespace

BaseKind kind_of(const conf::Application& application, const Launch& launch) {
  BaseKind kind{conf::resolve_python(application), launch.identity, {}, application.shared_imports};
  for (const std::string& variable : launch.environment) {
    if (is_of_the_interpreter(std::string_view(variable).substr(0, variable.find('='))))
      kind.environment.push_back(variable);
  }
  std::sort(kind.environment.begin(), kind.environment.end());
  return kind;
}

std::string own_module(const conf::Application& application) {
  for (const std::string& module : application.shared_imports) {
    const std::string path = application.directory + "/" + module.substr(0, module.find('.'));
    for (const std::string& candidate : {path + ".py", path + "/__init__.py"})
      if (::access(candidate.c_str(), F_OK) == 0) return candidate;
  }
  return {};
}

bool may_be_of(const BaseKind& kind, pid_t pid) {
  const uid_t user = kind.identity ? kind.identity->user : ::geteuid();
  return is_child_of(pid, ::getpid()) && user_of(pid) == user;
}

core::Result<std::unique_ptr<Base>> Base::start(core::Active& owner, const BaseKind& kind,
                                                const HostOptions& options,
                                                const std::string& tag) {
  std::unique_ptr<Base> base(new Base(owner, kind, tag));
  EngineProcess::Ends ends;
  auto process = EngineProcess::prepare(owner, base->log_.sink(), ends);
  if (!process) return process.error();
  base->process_ = std::move(*process);
  conf::Application application;  // it belongs to no site: none's directory is its own
  application.python = kind.python;
  application.directory = "/";
  auto started =
      base->process_->start(application, options, {kind.identity, kind.environment}, ends, title());
  if (!started) return started.error();
  ControlMessage message{std::string(record::verb::base), {}};
  message.set("imports", joined(kind.modules));
  base->process_->send(message.set("private", std::uint64_t{kind.identity.has_value()}));
  base->say(core::Level::info, "imports " + joined(kind.modules) + " with " + kind.python);
  return base;
}

Base::~Base() {
  for (Birth* birth : births_) birth->belongs_to(nullptr);
}

void Base::imported() {
  state_ = State::ready;
  for (const Birth* birth : births_)
    if (birth->is_awaited()) order(*birth);
}

void Base::add(Birth& birth) {
  birth.belongs_to(this);
  births_.push_back(&birth);
  leave_at_ = Time::max();
  if (state_ == State::ready) order(birth);
}

void Base::order(const Birth& birth) {
  const int fds[] = {birth.ends().control.get(), birth.ends().output.get()};
  ControlMessage message{std::string(record::verb::fork), {}};
  process_->send(message.set("serial", birth.serial()), fds);
}

void Base::remove(Birth& birth) {
  std::erase(births_, &birth);
  if (births_.empty()) leave_at_ = owner_.loop().now() + unused_time;
  owner_.wake();  // to look when that is
}

Birth* Base::find(std::uint64_t serial) const {
  for (Birth* birth : births_)
    if (birth->is_awaited() && birth->serial() == serial) return birth;
  return nullptr;
}

std::vector<Birth*> Base::take_awaited() {
  std::vector<Birth*> awaited;
  for (Birth* birth : births_)
    if (birth->is_awaited()) awaited.push_back(birth);
  for (Birth* birth : awaited) {
    std::erase(births_, birth);
    birth->belongs_to(nullptr);
  }
  return awaited;
}

void Base::leave(Time now) {
  if (state_ != State::importing && state_ != State::ready) return;
  state_ = State::leaving;
  give_up_ = now + leaving_time;
  process_->send({std::string(record::verb::stop), {}});
}

void Base::kill() {
  process_->kill(SIGKILL);
  give_up_ = Time::max();
}

void Base::ended(Time now) {
  state_ = State::ended;
  give_up_ = now + leaving_time;
  output_ = process_->ended();
}

bool Base::is_stuck(Time now) const {
  if (state_ == State::leaving) return give_up_ <= now;
  return std::any_of(births_.begin(), births_.end(),
                     [&](const Birth* birth) { return birth->is_awaited() && birth->by() <= now; });
}

bool Base::is_gone(Time now) const {
  return state_ == State::ended && (output_->ended() || give_up_ <= now);
}

Time Base::next_look() const {
  Time next = std::min(give_up_, state_ == State::leaving ? Time::max() : leave_at_);
  for (const Birth* birth : births_)
    if (birth->is_awaited()) next = std::min(next, birth->by());
  return next;
}

}  // namespace portico::backend
