// SiteService: what the services of applications have in common, in processes of their own or
// embedded: whose they are, what they say, and what they tell of themselves first.
//
// Base of ApplicationService and EmbeddedService; owned by the supervisor, in its thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "backend/host/site_command.h"
#include "conf/config.h"
#include "proxy/core/loop.h"
#include "proxy/process/report.h"
#include "proxy/process/service.h"
#include "proxy/process/site_log.h"

namespace portico::backend {

/// What the site is at the moment.
using SiteState = process::ServiceReport::State;

class SiteService : public core::Active, public process::Service {
 public:
  std::string_view name() const final { return application_.name; }
  void start() override {}     // with the first front
  void reopen_logs() final {}  // its log is the supervisor's
  process::RecentLines& recent_lines() final { return log_.recent(); }

 protected:
  using State = SiteState;

  /// supervisor  is woken when this service has stopped
  /// recent      of its site, shared with the site's other services
  SiteService(core::Active& supervisor, const conf::Application& application,
              std::shared_ptr<const HostOptions> options,
              std::shared_ptr<process::RecentLines> recent)
      : Active(supervisor.loop()),
        supervisor_(supervisor),
        application_(application),
        options_(std::move(options)),
        log_(application.name, std::move(recent)) {}

  /// Names, state and troubles; whoever derives adds its processes.
  process::ServiceReport begin_report() const;

  core::Active& supervisor_;
  conf::Application application_;
  std::shared_ptr<const HostOptions> options_;
  process::SiteLog log_;  // before what writes into it
  State state_ = State::starting;
  std::string reason_;  // of State::failed, in a sentence
};

}  // namespace portico::backend
