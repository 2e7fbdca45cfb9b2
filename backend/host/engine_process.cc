#include "backend/host/engine_process.h"

#include <signal.h>

#include <utility>

#include "backend/host/engine_blob.h"

namespace portico::backend {
namespace {

using core::Fd;
using core::Result;
using record::ControlMessage;

// The numbers of these descriptors in the process.
constexpr int control_number = 3;
constexpr int engine_number = 4;

}  // namespace

EngineProcess::EngineProcess(core::Active& owner, Fd control, Fd output, process::Lines::Sink sink)
    : control_(owner, std::move(control)),
      output_(std::make_unique<process::Output>(owner, std::move(output), std::move(sink))) {}

Result<std::unique_ptr<EngineProcess>> EngineProcess::prepare(core::Active& owner,
                                                              process::Lines::Sink sink,
                                                              Ends& ends) {
  auto control = net::Channel::pair();
  if (!control) return control.error();
  auto output = process::Output::pipe();
  if (!output) return output.error();
  ends = {std::move(control->second), std::move(output->childs)};
  return std::unique_ptr<EngineProcess>(new EngineProcess(
      owner, std::move(control->first), std::move(output->ours), std::move(sink)));
}

Result<void> EngineProcess::start(const conf::Application& application, const HostOptions& options,
                                  const Launch& launch, const Ends& ends, const std::string& name) {
  const std::string engine = options.engine ? std::to_string(engine_number) : options.engine_file;
  process::Command command = python_command(
      application, launch,
      {"-c", std::string(boot_source()), engine, std::to_string(control_number), name},
      ends.output);
  command.fds.push_back({ends.control.get(), control_number});
  if (options.engine) command.fds.push_back({options.engine.get(), engine_number});
  auto pid = process::spawn(command);
  if (!pid) return pid.error();
  pid_ = *pid;
  return {};
}

std::optional<ControlMessage> EngineProcess::hear() {
  for (;;) {
    auto received = control_.receive();
    if (!received || !received->has_value()) return std::nullopt;
    if (auto message = record::parse_control((*received)->text)) return message;
  }
}

void EngineProcess::send(const ControlMessage& message, std::span<const int> fds) {
  send_in_parts(control_, message, fds);
}

void EngineProcess::kill(int signal) const {
  if (pid_ > 0) ::kill(pid_, signal);
}

std::unique_ptr<process::Output> EngineProcess::ended() {
  pid_ = 0;
  return std::move(output_);
}

void send_in_parts(net::Channel& channel, const ControlMessage& message, std::span<const int> fds) {
  constexpr std::size_t most = record::max_control_descriptors;
  for (; fds.size() > most; fds = fds.subspan(most))
    channel.send(record::verb::more, fds.first(most));
  channel.send(record::format_control(message), fds);
}

}  // namespace portico::backend
