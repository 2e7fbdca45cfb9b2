#include "backend/front/applications.h"

#include "backend/front/wsgi_handler.h"

namespace portico::backend {
namespace {

// What a front thread wants to say to the supervisor, on its way to the main thread.
struct Saying {
  const Applications::Send* send;
  std::string application;
  std::string text;
  static void deliver(void* argument) {
    const std::unique_ptr<Saying> saying(static_cast<Saying*>(argument));
    (*saying->send)(saying->application, saying->text);
  }
};

}  // namespace

Applications::Applications(const conf::Config& config, unsigned front_threads, core::Loop& home,
                           Send send)
    : spool_(config.spool), home_(home), send_(std::move(send)) {
  for (const conf::Application& options : config.applications) {
    applications_[options.name] = std::make_shared<Application>(options, front_threads, spool_,
                                                                tell_from_anywhere(options.name));
  }
}

Applications::~Applications() = default;

Application::Tell Applications::tell_from_anywhere(const std::string& name) {
  return [this, name](std::string_view text) {
    home_.post(&Saying::deliver, new Saying{&send_, name, std::string(text)});
  };
}

std::shared_ptr<const serve::Handler> Applications::handler(const conf::Application& application,
                                                            const conf::Route& route) {
  return std::make_shared<WsgiHandler>(applications_.at(application.name), route);
}

void Applications::hear(std::string_view application, std::string_view text,
                        std::vector<core::Fd> fds) {
  const auto found = applications_.find(application);
  if (found != applications_.end()) found->second->hear(text, std::move(fds));
}

void Applications::attach(core::Loop& loop) {
  for (auto& [name, application] : applications_) application->attach(loop);
  if (loop.index() != 0) return;
  for (auto& [name, application] : applications_) {
    if (!application->options().health) continue;
    probes_.push_back(std::make_unique<HealthProbe>(loop, *application));
    probes_.back()->start();
  }
}

void Applications::detach(core::Loop& loop) {
  if (loop.index() == 0) probes_.clear();
  for (auto& [name, application] : applications_) application->detach(loop);
}

std::shared_ptr<const Application> Applications::find(std::string_view name) const {
  const auto found = applications_.find(name);
  return found == applications_.end() ? nullptr : found->second;
}

}  // namespace portico::backend
