#include "proxy/run/supervisor.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "conf/check.h"
#include "proxy/core/log.h"
#include "proxy/core/log_thread.h"
#include "proxy/core/timer.h"
#include "proxy/core/watch.h"
#include "proxy/process/environment.h"
#include "proxy/process/identity.h"
#include "proxy/process/limits.h"
#include "proxy/process/service.h"
#include "proxy/process/spawn.h"
#include "proxy/run/access_logs.h"
#include "proxy/run/banner.h"
#include "proxy/run/bound_listener.h"
#include "proxy/run/control.h"
#include "proxy/run/control_path.h"
#include "proxy/run/control_socket.h"
#include "proxy/run/front_process.h"
#include "proxy/run/front_reports.h"
#include "proxy/run/help.h"
#include "proxy/run/log_level.h"
#include "proxy/run/sources_file.h"

namespace portico::run {
namespace {

using core::Level;
using core::log;
using core::SignalWatch;
using namespace std::chrono_literals;

// After its time is over the front cuts what is left by itself; this much later it is killed.
constexpr core::Duration front_grace = 1s;
// What services get at least, when the front took all the time there was.
constexpr core::Duration least_service_time = 2s;
// From SIGKILL to giving up on a child that the kernel does not let go (a dead disk).
constexpr core::Duration kill_time = 5s;

unsigned threads_for(const conf::Config& config) {
  return config.front_threads != 0 ? config.front_threads
                                   : std::max(1u, std::thread::hardware_concurrency());
}

/// What the supervisor opens before anything starts, and owns to its end.
struct Foundation {
  core::Fd sources;
  std::vector<BoundListener> listeners;
  AccessLogs logs;
  unsigned threads;
  ControlSocket control;  // none where it was not wanted, or could not be made
};

bool fail(const std::string& why) {
  log(Level::error, why);
  return false;
}

bool knows_the_user(const conf::Config& config) {
  if (!process::started_as_root()) return true;
  if (process::front_identity(config.user)) return true;
  return fail("there is no user " + (config.user.empty() ? "nobody" : config.user) +
              " to answer clients as; create one, or name another with \"user:\"");
}

bool bind_all(const conf::Config& config, Foundation& foundation) {
  for (const conf::Listener& listener : config.listeners) {
    auto bound = bind_listener(listener, foundation.threads);
    if (!bound) return fail(why_not_bound(listener, bound.error()));
    foundation.listeners.push_back(std::move(*bound));
  }
  return true;
}

// Another Portico in our place is a mistake; a socket that cannot be made is no reason to serve
// nobody.
bool open_control(const conf::Config& config, Foundation& foundation) {
  const std::string path = control_path(config);
  if (path.empty()) return true;
  ControlSocket::Made made = ControlSocket::make(path);
  if (made.in_use) return fail(made.problem);
  if (!made.problem.empty()) log(Level::error, made.problem);
  foundation.control = std::move(made.socket);
  return true;
}

bool seal(const conf::Sources& sources, Foundation& foundation) {
  auto sealed = seal_sources(sources);
  if (!sealed) return fail(core::describe(sealed.error()));
  foundation.sources = std::move(*sealed);
  return true;
}

// An embedded application finds its environment in the front's.
std::vector<std::string> front_environment(const conf::Config& config) {
  const auto embedded = std::find_if(config.applications.begin(), config.applications.end(),
                                     [](const auto& application) { return application.embedded; });
  if (embedded == config.applications.end()) return process::environment_without({});
  const auto identity = process::front_identity(config.user);
  const bool changes = process::started_as_root() && identity;
  return process::application_environment(embedded->environment, changes ? &*identity : nullptr);
}

class Supervisor final : public core::Active, public FrontProcess::Owner, public Controlled {
 public:
  Supervisor(core::Loop& in, const conf::Config& config, Foundation& foundation, const Parts& parts,
             Stillbirth stillbirth)
      : Active(in),
        config_(config),
        foundation_(foundation),
        front_(in, *this,
               {foundation.sources, foundation.listeners, foundation.logs, foundation.threads,
                front_environment(config)}),
        front_reports_([this](std::uint64_t serial) { return front_.ask(serial); }),
        started_(in.now()),
        stillbirth_(stillbirth),
        deadline_(*this) {
    if (parts.services) services_ = parts.services(*this, config);
  }

  void start() {
    for (auto& service : services_) service->start();
    front_.start();
  }

  bool has_left() const { return has_left_; }  ///< since an application could not be started

  void advance() override {
    if (child_.take() > 0) reap();
    obey_signals();
    move_on();
  }

  // FrontProcess::Owner
  void front_started() override {
    for (auto& service : services_) service->front_up(front_);
  }

  void front_ready() override {
    if (std::exchange(announced_, true)) return log(Level::info, "the front is back");
    for (const BoundListener& listener : foundation_.listeners)
      log(Level::info, listener_line(listener));
    for (const conf::Site& site : config_.sites) log(Level::info, site_line(site, config_));
    log(Level::info, "ready");
  }

  void front_ended() override {
    for (auto& service : services_) service->front_down();
    front_reports_.front_ended();
    wake();
  }

  void front_said(std::string_view name, std::string_view text,
                  std::vector<core::Fd> fds) override {
    for (auto& service : services_)
      if (service->name() == name) return service->hear(text, std::move(fds));
  }

  void front_reported(std::string_view serial, std::string_view text) override {
    front_reports_.answered(serial, text);
  }

  // Controlled
  const conf::Config& config() const override { return config_; }
  std::span<const std::unique_ptr<process::Service>> services() const override { return services_; }
  FrontReports& front_reports() override { return front_reports_; }
  pid_t front_pid() const override { return front_.pid(); }
  core::Duration age() const override { return loop().now() - started_; }
  bool stopping() const override { return phase_ != Phase::running; }
  void stop() override {
    if (phase_ == Phase::running) begin_to_stop();
  }

 private:
  /// running   from start()
  /// draining  an end was asked for: the front finishes what runs
  /// stopping  the front has gone: the services stop
  /// ended     nothing is left
  enum class Phase { running, draining, stopping, ended };

  void reap() {
    for (;;) {
      int status = 0;
      const pid_t pid = ::waitpid(-1, &status, WNOHANG);
      if (pid <= 0) return;
      if (front_.child_ended(pid, status)) continue;
      std::any_of(services_.begin(), services_.end(),
                  [&](auto& service) { return service->child_ended(pid, status); });
    }
  }

  void obey_signals() {
    const int stops = term_.take() + int_.take();
    if (quit_.take() > 0 || (stops > 0 && phase_ != Phase::running)) {
      kill_all("stopping at once");
    } else if (stops > 0) {
      begin_to_stop();
    }
    if (usr1_.take() > 0) reopen_logs();
    if (hup_.take() > 0)
      log(Level::warning, "SIGHUP: reload is not available in this version; restart instead");
  }

  void begin_to_stop() {
    const core::Duration time = config_.shutdown_timeout;
    log(Level::info, "stopping: what runs may take " +
                         std::to_string(config_.shutdown_timeout.count() / 1000) +
                         " s more; a second signal ends it at once");
    phase_ = Phase::draining;
    stop_by_ = loop().now() + time;
    deadline_.set(stop_by_ + front_grace);
    front_.drain(time);
  }

  // Traceback and reason were told.
  void leave() {
    has_left_ = true;
    kill_all(
        "stopping, since the application cannot be started; --reload waits for a change of it");
  }

  bool any_stillborn() const {
    return std::any_of(services_.begin(), services_.end(),
                       [](const auto& service) { return service->is_stillborn(); });
  }

  void move_on() {
    if (stillbirth_ == Stillbirth::leaves && phase_ == Phase::running && any_stillborn()) leave();
    if (phase_ == Phase::draining && front_.gone()) stop_services();
    if (phase_ == Phase::stopping && all_stopped()) end();
    if (deadline_.due()) overdue();
  }

  void stop_services() {
    phase_ = Phase::stopping;
    stop_by_ = std::max(stop_by_, loop().now() + least_service_time);
    deadline_.set(stop_by_ + kill_time);
    for (auto& service : services_) service->stop(killed_ ? loop().now() : stop_by_);
  }

  bool all_stopped() const {
    return std::all_of(services_.begin(), services_.end(),
                       [](const auto& service) { return service->stopped(); });
  }

  void overdue() {
    if (!killed_) return kill_all("the time to stop is over; ending what still runs");
    log(Level::error, "some children did not end; leaving them to the kernel");
    end();
  }

  void kill_all(const std::string& why) {
    log(Level::warning, why);
    killed_ = true;
    if (phase_ == Phase::running) phase_ = Phase::draining;
    front_.kill();
    for (auto& service : services_) service->stop(loop().now());
    deadline_.set_after(kill_time);
  }

  void end() {
    phase_ = Phase::ended;
    deadline_.clear();
    loop().stop();
  }

  void reopen_logs() {
    foundation_.logs.open();
    front_.send_logs();
    for (auto& service : services_) service->reopen_logs();
    log(Level::info, "log files opened anew");
  }

  const conf::Config& config_;
  Foundation& foundation_;
  Parts::Services services_;
  FrontProcess front_;
  FrontReports front_reports_;
  const core::Time started_;
  const Stillbirth stillbirth_;
  bool has_left_ = false;
  Phase phase_ = Phase::running;
  bool killed_ = false;
  bool announced_ = false;
  core::Time stop_by_;
  core::Timer deadline_;
  SignalWatch term_{*this, SIGTERM};
  SignalWatch int_{*this, SIGINT};
  SignalWatch quit_{*this, SIGQUIT};
  SignalWatch usr1_{*this, SIGUSR1};
  SignalWatch hup_{*this, SIGHUP};
  SignalWatch child_{*this, SIGCHLD};
};

void warn_of_machine(const conf::Config& config) {
  for (conf::Problem problem : conf::check_machine(config)) {
    problem.severity = conf::Severity::error;  // that it is a warning, the level says
    log(Level::warning, conf::text(problem));
  }
}

void remove_sockets(const std::vector<BoundListener>& listeners) {
  for (const BoundListener& listener : listeners)
    if (!listener.unix_path.empty()) ::unlink(listener.unix_path.c_str());
}

}  // namespace

int supervise(const conf::Sources& sources, const conf::Config& config, const Parts& parts,
              Stillbirth stillbirth) {
  use_log(config.log);
  const core::LogThread log_thread;
  log(Level::info, version_text);
  process::raise_open_files();
  process::adopt_orphans();
  process::ignore_signal(SIGPIPE);
  Foundation foundation{{}, {}, AccessLogs(config), threads_for(config), {}};
  if (!knows_the_user(config) || !open_control(config, foundation) ||
      !bind_all(config, foundation) || !seal(sources, foundation))
    return 1;
  foundation.logs.open();
  warn_of_machine(config);
  bool has_left = false;
  {
    core::Loop loop;
    Supervisor supervisor(loop, config, foundation, parts, stillbirth);
    std::optional<Control> control;
    core::Fd listening = foundation.control.take_descriptor();
    if (listening) control.emplace(loop, std::move(listening), supervisor);
    supervisor.start();
    loop.run();
    has_left = supervisor.has_left();
  }
  remove_sockets(foundation.listeners);
  log(Level::info, "stopped");
  return has_left ? 1 : 0;
}

}  // namespace portico::run
