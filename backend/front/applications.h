// Applications: every WSGI application of the configuration, as the front process sees them.
//
// One per front process, made and told by its main thread; main adapts it to
// route::ApplicationHost. The front threads attach their loops before they serve and detach them
// before these go.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backend/front/application.h"
#include "backend/front/health_probe.h"
#include "backend/front/interpreter.h"
#include "backend/front/spool.h"
#include "conf/config.h"
#include "proxy/core/fd.h"
#include "proxy/core/loop.h"
#include "proxy/serve/handler.h"

namespace portico::backend {

class Applications {
 public:
  /// Says `text` to the service of that name in the supervisor; called from any thread.
  using Send = std::function<void(std::string_view application, std::string_view text)>;

  Applications(const conf::Config& config, unsigned front_threads, Send send);
  ~Applications();

  std::shared_ptr<const serve::Handler> handler(const conf::Application& application,
                                                const conf::Route& route);
  /// What the supervisor's side says to an application (see application.h), or `embed`: to run its
  /// interpreter in this process. Main thread.
  void hear(std::string_view application, std::string_view text, std::vector<core::Fd> fds);

  void attach(core::Loop& loop);  ///< in the front thread that owns it
  void detach(core::Loop& loop);  ///< likewise

  /// For status: null when there is none of that name.
  std::shared_ptr<const Application> find(std::string_view name) const;

 private:
  void serve_in_loop(std::string_view application);
  void embed(std::string_view application, const record::ControlMessage& message,
             std::vector<core::Fd> fds);

  Send send_;
  Spool spool_;
  std::map<std::string, std::shared_ptr<Application>, std::less<>> applications_;
  std::vector<std::unique_ptr<HealthProbe>> probes_;  // of front thread 0
  Interpreter interpreter_;                           // of an embedded application; ends first
};

}  // namespace portico::backend
