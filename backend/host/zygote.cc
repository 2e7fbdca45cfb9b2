#include "backend/host/zygote.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backend/host/bases.h"
#include "proxy/process/session.h"

namespace portico::backend {
namespace {

using core::Fd;
using core::Result;
using record::ControlMessage;

ControlMessage message(std::string_view verb) { return {std::string(verb), {}}; }

// "NAME=value" NUL "NAME=value" NUL: what the operator wrote may be secret, and longer than a
// message.
Result<Fd> sealed_environment(const Launch& launch) {
  std::string text;
  for (const std::string& variable : launch.environment) text += variable + '\0';
  return sealed_copy("portico-environment", text);
}

}  // namespace

ControlMessage setup_message(const conf::Application& application, unsigned front_threads,
                             bool multiprocess) {
  ControlMessage setup = message(record::verb::setup);
  setup.set("application", application.reference);
  setup.set("directory", application.directory);
  setup.set("site", application.name);
  setup.set("threads", std::uint64_t{application.threads});
  setup.set("front_threads", std::uint64_t{front_threads});
  setup.set("multiprocess", std::uint64_t{multiprocess});
  setup.set("preload", std::uint64_t{application.preload != conf::Preload::never});
  return setup;
}

Result<std::unique_ptr<Zygote>> Zygote::start(core::Active& owner,
                                              const conf::Application& application,
                                              const HostOptions& options, const Launch& launch,
                                              process::SiteLog& log) {
  EngineProcess::Ends ends;
  auto process = EngineProcess::prepare(owner, log.sink(), ends);
  if (!process) return process.error();
  auto started = (*process)->start(application, options, launch, ends, application.name);
  if (!started) return started.error();
  return std::unique_ptr<Zygote>(new Zygote(std::move(*process), launch));
}

Result<std::unique_ptr<Zygote>> Zygote::ask_for(core::Active& owner,
                                                const conf::Application& application,
                                                const HostOptions& options, const Launch& launch,
                                                process::SiteLog& log) {
  auto environment = sealed_environment(launch);
  if (!environment) return environment.error();
  EngineProcess::Ends ends;
  auto process = EngineProcess::prepare(owner, log.sink(), ends);
  if (!process) return process.error();
  std::unique_ptr<Zygote> zygote(new Zygote(std::move(*process), launch));
  zygote->environment_ = std::move(*environment);
  zygote->birth_ = options.bases->ask(owner, application, options, launch, std::move(ends));
  return zygote;
}

void Zygote::set_up(const conf::Application& application, const Channels& channels,
                    unsigned front_threads) {
  if (birth_ != nullptr) become(application.name);
  const int fds[] = {channels.worker_queue.get(), channels.cells.get()};
  process_->send(setup_message(application, front_threads, application.workers > 1)
                     .set("private", std::uint64_t{is_private_}),
                 fds);
}

void Zygote::become(const std::string& site) {
  process_->made(birth_->pid());
  const Fd environment = std::move(environment_);
  const int fds[] = {environment.get()};
  process_->send(message(record::verb::become).set("site", site), fds);
}

void Zygote::renew(const Channels& channels, unsigned front_threads) {
  const int fds[] = {channels.worker_queue.get(), channels.cells.get()};
  process_->send(message(record::verb::renew).set("front_threads", std::uint64_t{front_threads}),
                 fds);
}

void Zygote::fork(std::uint16_t worker, const WorkerEnds& ends) {
  std::vector<int> fds = {ends.worker_control.get()};
  for (const Fd& fd : ends.worker) fds.push_back(fd.get());
  process_->send(message(record::verb::fork).set("worker", std::uint64_t{worker}), fds);
}

void Zygote::stop() { process_->send(message(record::verb::stop)); }

std::unique_ptr<process::Output> Zygote::ended() {
  birth_.reset();
  return process_->ended();
}

bool is_child_of(pid_t pid, pid_t parent) {
  return pid > 1 && parent > 0 && process::kinship_of(pid).parent == parent;
}

}  // namespace portico::backend
