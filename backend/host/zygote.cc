#include "backend/host/zygote.h"

#include <signal.h>

#include <string>
#include <utility>

#include "backend/host/engine_blob.h"
#include "proxy/process/session.h"

namespace portico::backend {
namespace {

using core::Fd;
using core::Result;
using record::ControlMessage;

// The numbers of these descriptors in the zygote.
constexpr int control_number = 3;
constexpr int engine_number = 4;

process::Command command_for(const conf::Application& application, const HostOptions& options,
                             const Launch& launch, const Fd& control, const Fd& output) {
  const std::string engine = options.engine ? std::to_string(engine_number) : options.engine_file;
  process::Command command = python_command(
      application, launch,
      {"-c", std::string(boot_source()), engine, std::to_string(control_number), application.name},
      output);
  command.fds.push_back({control.get(), control_number});
  if (options.engine) command.fds.push_back({options.engine.get(), engine_number});
  return command;
}

}  // namespace

ControlMessage setup_message(const conf::Application& application, unsigned front_threads,
                             bool multiprocess) {
  ControlMessage message{std::string(record::verb::setup), {}};
  message.set("application", application.reference);
  message.set("directory", application.directory);
  message.set("site", application.name);
  message.set("threads", std::uint64_t{application.threads});
  message.set("front_threads", std::uint64_t{front_threads});
  message.set("multiprocess", std::uint64_t{multiprocess});
  message.set("preload", std::uint64_t{application.preload != conf::Preload::never});
  return message;
}

void send_in_parts(net::Channel& channel, const ControlMessage& message, std::span<const int> fds) {
  constexpr std::size_t most = record::max_control_descriptors;
  for (; fds.size() > most; fds = fds.subspan(most))
    channel.send(record::verb::more, fds.first(most));
  channel.send(record::format_control(message), fds);
}

Zygote::Zygote(core::Active& owner, Fd control, Fd output, process::Lines::Sink sink)
    : control_(owner, std::move(control)),
      output_(std::make_unique<process::Output>(owner, std::move(output), std::move(sink))) {}

Result<std::unique_ptr<Zygote>> Zygote::start(core::Active& owner,
                                              const conf::Application& application,
                                              const HostOptions& options, const Launch& launch,
                                              const Channels& channels, unsigned front_threads,
                                              bool multiprocess, process::SiteLog& log) {
  auto control = net::Channel::pair();
  if (!control) return control.error();
  auto output = process::Output::pipe();
  if (!output) return output.error();
  const bool is_private = launch.identity.has_value();
  auto pid =
      process::spawn(command_for(application, options, launch, control->second, output->childs));
  if (!pid) return pid.error();
  std::unique_ptr<Zygote> zygote(
      new Zygote(owner, std::move(control->first), std::move(output->ours), log.sink()));
  zygote->pid_ = *pid;
  zygote->send(setup_message(application, front_threads, multiprocess)
                   .set("private", std::uint64_t{is_private}),
               {channels.worker_queue.get(), channels.cells.get()});
  return zygote;
}

void Zygote::send(const ControlMessage& message, std::vector<int> fds) {
  send_in_parts(control_, message, fds);
}

void Zygote::renew(const Channels& channels, unsigned front_threads) {
  ControlMessage message{std::string(record::verb::renew), {}};
  send(message.set("front_threads", std::uint64_t{front_threads}),
       {channels.worker_queue.get(), channels.cells.get()});
}

void Zygote::fork(std::uint16_t worker, const WorkerEnds& ends) {
  std::vector<int> fds = {ends.worker_control.get()};
  for (const Fd& fd : ends.worker) fds.push_back(fd.get());
  ControlMessage message{std::string(record::verb::fork), {}};
  send(message.set("worker", std::uint64_t{worker}), std::move(fds));
}

void Zygote::stop() { send(ControlMessage{std::string(record::verb::stop), {}}, {}); }

void Zygote::kill(int signal) {
  if (pid_ > 0) ::kill(pid_, signal);
}

std::unique_ptr<process::Output> Zygote::ended() {
  pid_ = 0;
  return std::move(output_);
}

std::optional<ControlMessage> Zygote::hear() {
  for (;;) {
    auto received = control_.receive();
    if (!received || !received->has_value()) return std::nullopt;
    if (auto message = record::parse_control((*received)->text)) return message;
  }
}

bool is_child_of(pid_t pid, pid_t parent) {
  return pid > 1 && parent > 0 && process::kinship_of(pid).parent == parent;
}

}  // namespace portico::backend
