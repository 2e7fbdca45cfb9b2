#include "backend/front/applications.h"

#include "backend/front/wsgi_handler.h"
#include "proxy/core/log.h"

namespace portico::backend {

Applications::Applications(const conf::Config& config, unsigned front_threads, Send send)
    : send_(std::move(send)), spool_(config.spool) {
  for (const conf::Application& options : config.applications) {
    auto tell = [this, name = options.name](std::string_view text) { send_(name, text); };
    applications_[options.name] =
        std::make_shared<Application>(options, front_threads, spool_, std::move(tell));
  }
}

Applications::~Applications() = default;

std::shared_ptr<const serve::Handler> Applications::handler(const conf::Application& application,
                                                            const conf::Route& route) {
  return std::make_shared<WsgiHandler>(applications_.at(application.name), route);
}

void Applications::hear(std::string_view application, std::string_view text,
                        std::vector<core::Fd> fds) {
  if (text.starts_with("embed ")) {
    const auto message = record::parse_control(text);
    if (message) embed(application, *message, std::move(fds));
    return;
  }
  if (text.starts_with("ready ")) serve_in_loop(application);
  const auto found = applications_.find(application);
  if (found != applications_.end()) found->second->hear(text, std::move(fds), core::Clock::now());
}

// Told before the application hears of its readiness, and so of its slots.
void Applications::serve_in_loop(std::string_view application) {
  const auto found = applications_.find(application);
  if (found == applications_.end() || found->second->options().threads != 0) return;
  const record::Direct* direct = interpreter_.direct();
  if (direct != nullptr) return found->second->serve_in_loop(*direct);
  core::log(core::Level::error, std::string(application) + ": the engine has no direct calls");
}

void Applications::embed(std::string_view application, const record::ControlMessage& message,
                         std::vector<core::Fd> fds) {
  const auto text = [&](std::string_view key) {
    return std::string(message.text(key).value_or(""));
  };
  Interpreter::Plan plan{text("python"), text("library"), text("boot"), {}, {}, text("engine")};
  if (fds.empty()) return;
  plan.control = std::move(fds[0]);
  if (fds.size() > 1) plan.engine = std::move(fds[1]);
  const std::string problem = interpreter_.start(std::move(plan));
  if (problem.empty()) return;
  core::log(core::Level::error, std::string(application) + ": " + problem);
  send_(application,
        record::format_control(record::ControlMessage{"unembedded", {}}.set("reason", problem)));
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
