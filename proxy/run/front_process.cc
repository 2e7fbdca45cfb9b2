#include "proxy/run/front_process.h"

#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <utility>

#include "proxy/core/log.h"
#include "proxy/process/death.h"
#include "proxy/process/spawn.h"
#include "proxy/run/front.h"
#include "proxy/run/front_message.h"

namespace portico::run {
namespace {

using core::Level;
using core::log;

// glibc's lists of free memory hold 7 pieces of a size for each thread; a turn of a busy front
// takes and gives back more, and each beyond that is searched for (2,000 of 32,000 instructions of
// a relayed request). An operator's own tunables rule.
std::vector<std::string> tuned(std::vector<std::string> environment) {
  const bool is_tuned = std::any_of(environment.begin(), environment.end(), [](const auto& entry) {
    return entry.starts_with("GLIBC_TUNABLES=");
  });
  if (!is_tuned) environment.push_back(std::string("GLIBC_TUNABLES=") + front_tunables);
  return environment;
}

}  // namespace

FrontProcess::FrontProcess(core::Loop& in, Owner& owner, Gifts gifts)
    : Active(in), owner_(owner), gifts_(std::move(gifts)), restart_(*this) {}

void FrontProcess::start() {
  backoff_.started(loop().now());
  if (!spawn()) return;
  tell_everything();
  owner_.front_started();
}

bool FrontProcess::spawn() {
  auto ends = net::Channel::pair();
  if (!ends) {
    restart_later("no channel to a front: " + core::describe(ends.error()));
    return false;
  }
  process::Command command;
  command.path = "/proc/self/exe";
  command.arguments = {"portico", "front"};
  command.environment = tuned(gifts_.environment);
  command.fds = {{ends->second.get(), front_channel_fd}};
  const auto child = process::spawn(command);
  if (!child) {
    restart_later("the front cannot be started: " + core::describe(child.error()));
    return false;
  }
  pid_ = *child;
  channel_ = std::make_unique<net::Channel>(*this, std::move(ends->first));
  return true;
}

void FrontProcess::tell_everything() {
  const int sources = gifts_.sources.get();
  channel_->send(format_message({say::config, {}, {}}), {&sources, 1});
  for (const BoundListener& listener : gifts_.listeners) send_listener(listener);
  send_logs();
  channel_->send(format_message({say::start, std::to_string(gifts_.threads), {}}));
}

void FrontProcess::send_listener(const BoundListener& listener) {
  std::vector<int> fds;
  for (unsigned thread = 0; thread < gifts_.threads; ++thread) {
    fds.push_back(listener.socket_of(thread));
    if (fds.size() < net::Channel::fds_limit && thread + 1 < gifts_.threads) continue;
    channel_->send(format_message({say::listener, {}, listener.name}), fds);
    fds.clear();
  }
}

void FrontProcess::send_logs() {
  if (!channel_) return;
  for (const AccessLogs::File& file : gifts_.logs.files()) {
    const int fd = file.fd.get();
    if (file.fd) channel_->send(format_message({say::log, {}, file.path}), {&fd, 1});
  }
}

void FrontProcess::tell(std::string_view service, std::string_view text, std::span<const int> fds) {
  if (channel_) channel_->send(format_message({say::service, service, text}), fds);
}

bool FrontProcess::ask(std::uint64_t serial) {
  if (channel_) channel_->send(format_message({say::report, std::to_string(serial), {}}));
  return channel_ != nullptr;
}

void FrontProcess::drain(core::Duration time) {
  ending_ = true;
  restart_.clear();
  if (!channel_) return;
  const auto wait = std::chrono::ceil<std::chrono::milliseconds>(time);
  const auto count = std::max<std::chrono::milliseconds::rep>(wait.count(), 0);
  channel_->send(format_message({say::drain, std::to_string(count), {}}));
}

void FrontProcess::kill() {
  ending_ = true;
  restart_.clear();
  if (pid_ != 0) ::kill(pid_, SIGKILL);
}

void FrontProcess::advance() {
  hear();
  if (pid_ == 0 && !ending_ && restart_.due()) {
    restart_.clear();
    start();
  }
}

// The end of the channel is not the end of the front: that is what wait says.
void FrontProcess::hear() {
  if (channel_ && channel_->is_deaf()) return end_deaf();
  while (channel_ && !channel_->closed()) {
    auto message = channel_->receive();
    if (!message || !message->has_value()) return;
    const FrontMessage said = parse_message((*message)->text);
    if (said.verb == say::ready) owner_.front_ready();
    if (said.verb == say::service)
      owner_.front_said(said.argument, said.body, std::move((*message)->fds));
    if (said.verb == say::report) owner_.front_reported(said.argument, said.body);
  }
}

// It serves nobody any more, or soon will: what it was told last, it never learns.
void FrontProcess::end_deaf() {
  log(Level::error, "the front has not read what it was told for a long time; it is killed");
  channel_.reset();
  if (pid_ != 0) ::kill(pid_, SIGKILL);
}

bool FrontProcess::child_ended(pid_t pid, int wait_status) {
  if (pid != pid_ || pid == 0) return false;
  pid_ = 0;
  channel_.reset();
  if (!ending_) restart_later("the front " + process::describe_death(wait_status));
  owner_.front_ended();
  return true;
}

void FrontProcess::restart_later(const std::string& what_happened) {
  const core::Duration wait = backoff_.died(loop().now());
  const auto shown = std::chrono::duration_cast<std::chrono::milliseconds>(wait);
  log(Level::error, what_happened + "; another one starts in " + std::to_string(shown.count()) +
                        " ms (clients wait)");
  restart_.set_after(wait);
}

}  // namespace portico::run
