#include "backend/host/release.h"

#include <signal.h>

#include <cstdlib>
#include <utility>

#include "conf/check.h"
#include "proxy/process/session.h"

namespace portico::backend {
namespace {

// How long an interpreter may take to end once it has said that the import failed: threads that the
// application has begun may hold it for ever.
constexpr auto refused_grace = std::chrono::seconds(5);

std::string real_path(const std::string& path) {
  const std::unique_ptr<char, decltype(&::free)> found(::realpath(path.c_str(), nullptr), &::free);
  return found ? std::string(found.get()) : path;
}

}  // namespace

conf::Application resolve_code(const conf::Application& application) {
  conf::Application code = application;
  code.directory = real_path(application.directory);
  const std::string python = conf::resolve_python(code);
  const std::size_t slash = python.rfind('/');
  if (slash != std::string::npos && slash != 0)
    code.python = real_path(python.substr(0, slash)) + python.substr(slash);
  return code;
}

bool Release::start_zygote(core::Active& owner, const Place& place, Origin origin,
                           Failure& failure) {
  const auto fail = [&](std::string_view cause, std::string reason) {
    failure = {std::string(cause), std::move(reason)};
    return false;
  };
  if (application_.user.empty() && !place.options.user_error.empty())
    return fail("user", place.options.user_error);
  auto launch = prepare_launch(application_, place.options.identity,
                               place.options.groups.entrance(application_.name));
  if (auto* refusal = std::get_if<Refusal>(&launch))
    return fail(refusal->cause, std::move(refusal->reason));
  // What is forked from a base stands in its group.
  const bool has_group = std::get<Launch>(launch).group >= 0;
  const bool shares = !has_group && origin == Origin::base &&
                      !application_.shared_imports.empty() && place.options.bases != nullptr;
  auto make = shares ? Zygote::ask_for : Zygote::start;
  auto zygote = make(owner, application_, place.options, std::get<Launch>(launch), place.log);
  if (!zygote)
    return fail("interpreter", application_.python + ": " + core::describe(zygote.error()));
  zygote_ = std::move(*zygote);
  front_threads_ = place.front_threads;
  state_ = State::unborn;
  if (!shares) begin();
  return true;
}

void Release::begin() {
  state_ = State::importing;
  zygote_->set_up(application_, channels_, front_threads_);
}

std::unique_ptr<Release> Release::start(core::Active& owner, const conf::Application& application,
                                        const Place& place, Failure& failure) {
  auto channels = Channels::make(place.front_threads);
  if (!channels) {
    failure = {"exit", core::describe(channels.error())};
    return nullptr;
  }
  std::unique_ptr<Release> made(
      new Release(resolve_code(application), std::move(*channels), place.number));
  if (!made->start_zygote(owner, place, Origin::base, failure)) return nullptr;
  return made;
}

std::unique_ptr<process::Output> Release::start_anew(core::Active& owner, const Place& place,
                                                     Origin origin, Failure& failure) {
  const pid_t before = zygote_->pid();
  auto output = zygote_->ended();
  process::kill_session(before);
  zygote_.reset();
  if (!start_zygote(owner, place, origin, failure)) state_ = State::ended;
  return output;
}

std::unique_ptr<process::Output> Release::import_in_workers(core::Active& owner, const Place& place,
                                                            Failure& failure) {
  application_.preload = conf::Preload::never;
  return start_anew(owner, place, shares_imports() ? Origin::base : Origin::own, failure);
}

std::unique_ptr<process::Output> Release::begin_alone(core::Active& owner, const Place& place,
                                                      Failure& failure) {
  return start_anew(owner, place, Origin::own, failure);
}

Release::~Release() { kill(); }

void Release::refused(core::Time now) {
  state_ = State::refused;
  end_by(now + refused_grace);
}

std::unique_ptr<process::Output> Release::ended() {
  state_ = State::ended;
  end_by_ = no_deadline;
  return zygote_->ended();
}

bool Release::renew(const Place& place) {
  auto channels = Channels::make(place.front_threads);
  if (!channels) return false;
  channels_ = std::move(*channels);
  number_ = place.number;
  front_threads_ = place.front_threads;
  if (state_ != State::unborn) zygote_->renew(channels_, front_threads_);
  return true;
}

void Release::stop(core::Time end_by_time) {
  end_by(end_by_time);
  if (state_ == State::unborn) return kill();
  if (runs()) zygote_->stop();
}

void Release::kill() {
  end_by_ = no_deadline;
  if (zygote_ == nullptr || !runs()) return;
  if (is_beginning()) state_ = State::given_up;
  zygote_->kill(SIGKILL);
}

}  // namespace portico::backend
