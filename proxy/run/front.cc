#include "proxy/run/front.h"

#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "conf/load.h"
#include "proxy/core/log.h"
#include "proxy/core/log_thread.h"
#include "proxy/core/text.h"
#include "proxy/net/channel.h"
#include "proxy/process/identity.h"
#include "proxy/process/limits.h"
#include "proxy/route/counters.h"
#include "proxy/route/log_files.h"
#include "proxy/route/pools.h"
#include "proxy/route/snapshot.h"
#include "proxy/run/front_message.h"
#include "proxy/run/front_report.h"
#include "proxy/run/front_thread.h"
#include "proxy/run/log_level.h"
#include "proxy/run/no_applications.h"
#include "proxy/run/sources_file.h"

namespace portico::run {
namespace {

using core::Level;
using core::log;

// More threads than this on one machine are a mistake in the message.
constexpr std::uint64_t most_threads = 4096;

/// Nothing that a front can do without its supervisor is worth doing.
[[noreturn]] void leave(int status) { ::_exit(status); }

[[noreturn]] void fail(const core::Error& error) {
  log(Level::error, "the front cannot start: " + core::describe(error));
  leave(1);
}

/// glibc has read them; they are not for an embedded application, nor for what it starts.
void forget_tunables() {
  const char* tunables = std::getenv("GLIBC_TUNABLES");
  if (tunables != nullptr && std::string_view(tunables) == front_tunables)
    ::unsetenv("GLIBC_TUNABLES");
}

/// Everything that serves, in the order in which it may be built; destroyed the other way round.
struct Works {
  Works(conf::Config config, unsigned thread_count, route::LogFiles& logs,
        std::unique_ptr<Applications> host)
      : applications(std::move(host)),
        pools(thread_count),
        around{*applications, pools, logs, counters, route::instance_name()},
        snapshot(route::Snapshot::compile(std::move(config), around)),
        counts(std::make_shared<serve::ConnectionCounts>()) {}

  std::unique_ptr<Applications> applications;
  route::Counters counters;
  route::Pools pools;
  route::Surroundings around;
  std::shared_ptr<const route::Snapshot> snapshot;
  std::shared_ptr<serve::ConnectionCounts> counts;
  std::list<FrontThread> threads;
};

class Front final : public core::Active {
 public:
  Front(core::Loop& in, core::Fd channel, const Parts& parts, pid_t supervisor)
      : Active(in), parts_(parts), supervisor_(supervisor), channel_(*this, std::move(channel)) {}

  void advance() override {
    hear_supervisor();
    if (draining_ && all_ended()) loop().stop();
  }

 private:
  using Fds = std::vector<core::Fd>;

  void hear_supervisor() {
    for (;;) {
      auto message = channel_.receive();
      if (!message) lose_supervisor();
      if (!message->has_value()) return;
      obey(parse_message((*message)->text), std::move((*message)->fds));
    }
  }

  // It has gone, or hangs: what it has not heard it will never learn, and another front can begin
  // anew.
  [[noreturn]] void lose_supervisor() {
    if (channel_.is_deaf())
      core::log(core::Level::error,
                "the supervisor has not read what it was told for a long time; the front ends");
    log_thread_.reset();
    leave(0);
  }

  void obey(const FrontMessage& order, Fds fds) {
    if (order.verb == say::config) {
      take_config(std::move(fds));
    } else if (order.verb == say::listener) {
      take_listener(std::string(order.body), std::move(fds));
    } else if (order.verb == say::log) {
      if (!fds.empty()) logs_.adopt(std::string(order.body), std::move(fds.front()));
    } else if (order.verb == say::start) {
      start(core::decimal(order.argument).value_or(0));
    } else if (order.verb == say::service) {
      if (works_) works_->applications->hear(order.argument, order.body, std::move(fds));
    } else if (order.verb == say::report) {
      report(order.argument);
    } else if (order.verb == say::drain) {
      drain(std::chrono::milliseconds(core::decimal(order.argument).value_or(0)));
    }
  }

  // The texts were loaded by the supervisor without a problem, so they load here; no line of them
  // is looked at before the privileges are gone.
  void take_config(Fds fds) {
    if (fds.empty()) fail({core::Fault::internal, 0, "taking the configuration"});
    const auto sources = unseal_sources(fds.front().get());
    if (!sources) fail(sources.error());
    conf::Loaded loaded = conf::load(*sources);
    if (!loaded.problems.empty()) fail({core::Fault::internal, 0, "loading the configuration"});
    config_ = std::move(loaded.config);
    use_log(config_.log);
    drop_privileges();
  }

  void drop_privileges() {
    if (process::started_as_root()) {
      const auto identity = process::front_identity(config_.user);
      if (!identity) fail(identity.error());
      if (const auto done = process::become(*identity); !done) fail(done.error());
    }
    process::forbid_new_privileges();
    process::forbid_dumps();
    if (!process::die_with(supervisor_, SIGKILL)) leave(0);
    log_thread_.emplace();
  }

  // What comes first in one message belongs to the first thread, and so on.
  void take_listener(std::string name, Fds fds) {
    auto& sockets = sockets_[std::move(name)];
    for (core::Fd& fd : fds) sockets.push_back(std::move(fd));
  }

  void start(std::uint64_t threads) {
    if (works_ || threads == 0 || threads > most_threads)
      fail({core::Fault::internal, 0, "taking the order to start"});
    const auto count = static_cast<unsigned>(threads);
    works_ = std::make_unique<Works>(config_, count, logs_, make_applications(count));
    for (unsigned index = 0; index < count; ++index) start_thread(index);
    sockets_.clear();
    channel_.send(format_message({say::ready, {}, {}}));
  }

  std::unique_ptr<Applications> make_applications(unsigned threads) {
    if (!parts_.applications) return std::make_unique<NoApplications>();
    return parts_.applications(
        config_, threads,
        [this](std::string_view service, std::string_view text) { tell_service(service, text); });
  }

  // From any thread; the channel belongs to this one's.
  void tell_service(std::string_view service, std::string_view text) {
    struct Letter {
      net::Channel& channel;
      std::string text;
    };
    loop().post(
        [](void* argument) {
          const std::unique_ptr<Letter> letter(static_cast<Letter*>(argument));
          letter->channel.send(letter->text);
        },
        new Letter{channel_, format_message({say::service, service, text})},
        [](void* argument) { delete static_cast<Letter*>(argument); });
  }

  void start_thread(unsigned index) {
    std::vector<Listening> listeners;
    for (auto& [name, sockets] : sockets_)
      if (index < sockets.size()) listeners.push_back({name, std::move(sockets[index])});
    works_->threads.emplace_back(
        index,
        FrontThread::Setup{works_->snapshot->root(), works_->counts, std::move(listeners),
                           works_->pools, *works_->applications},
        *this);
  }

  void report(std::string_view serial) {
    if (!works_) return;
    const FrontReport known =
        collect(config_, works_->pools, works_->counters, *works_->applications, loop().now());
    channel_.send(format_message({say::report, serial, format_report(known)}));
  }

  void drain(core::Duration time) {
    if (!works_) leave(0);
    if (std::exchange(draining_, true)) return;
    for (FrontThread& thread : works_->threads) thread.drain(time);
  }

  bool all_ended() const {
    for (const FrontThread& thread : works_->threads)
      if (!thread.ended()) return false;
    return true;
  }

  std::optional<core::LogThread> log_thread_;  // before all that logs
  const Parts& parts_;
  pid_t supervisor_;
  net::Channel channel_;
  conf::Config config_;
  std::map<std::string, Fds> sockets_;  // by listener; emptied by start()
  route::LogFiles logs_;
  std::unique_ptr<Works> works_;
  bool draining_ = false;
};

}  // namespace

int front_main(const Parts& parts) {
  forget_tunables();
  const pid_t supervisor = ::getppid();
  for (const int signal : {SIGPIPE, SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2})
    process::ignore_signal(signal);  // the supervisor decides
  core::Loop loop;
  Front front(loop, core::Fd(front_channel_fd), parts, supervisor);
  front.wake();
  loop.run();
  return 0;
}

}  // namespace portico::run
