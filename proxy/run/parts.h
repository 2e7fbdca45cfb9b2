// Parts: what main puts into the supervisor and the front from outside, since run does not know
// backend.
//
// Made by main.cc, which alone sees both; the functions run in the supervisor's thread and in the
// front's main thread. An absent function means that no WSGI application can run: such sites answer
// 503.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "conf/config.h"
#include "conf/problem.h"
#include "proxy/core/fd.h"
#include "proxy/core/loop.h"
#include "proxy/process/service.h"
#include "proxy/route/application_host.h"

namespace portico::run {

/// Says something to the service of that name in the supervisor. Any thread of the front; what one
/// thread says keeps its order.
using TellService = std::function<void(std::string_view service, std::string_view text)>;

/// What the front knows of one application, for status.
struct ApplicationFacts {
  struct Worker {
    unsigned number = 0;
    std::uint64_t requests = 0;  ///< answered so far
  };

  bool healthy = true;  ///< false: its health check fails
  std::vector<Worker> workers;
};

/// The counterpart of all services in the front process. Made and told by the main thread.
class Applications : public route::ApplicationHost {
 public:
  /// The service of that name said something. The main thread.
  virtual void hear(std::string_view service, std::string_view text, std::vector<core::Fd> fds) = 0;
  /// Of the service of that name; nothing is known of one that there is not. Any thread.
  virtual ApplicationFacts facts(std::string_view service) const = 0;
  virtual void attach(core::Loop& loop) = 0;  ///< a front thread, before it serves
  virtual void detach(core::Loop& loop) = 0;  ///< a front thread, when it serves no more
};

struct Parts {
  using Services = std::vector<std::unique_ptr<process::Service>>;

  /// Services of a configuration, not yet started; `supervisor` is woken when one has stopped.
  std::function<Services(core::Active& supervisor, const conf::Config& config)> services;
  /// threads  the number of front threads; their loops have the indices 0 to threads - 1
  std::function<std::unique_ptr<Applications>(const conf::Config& config, unsigned threads,
                                              TellService tell)>
      applications;
  /// What this machine lacks for the applications, beyond what conf::check_machine sees.
  std::function<std::vector<conf::Problem>(const conf::Config& config)> missing;
};

}  // namespace portico::run
