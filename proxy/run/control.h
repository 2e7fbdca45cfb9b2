// Control: the HTTP interface of the supervisor over its Unix socket, for Portico's own commands.
//
// Owned by supervise(); the supervisor's thread. It is served by the same core as the clients
// (serve::Server), within limits that no slow or greedy caller can stretch; the routes stand in
// control_routes.h. portico(8), "CONTROL SOCKET".
#pragma once

#include <memory>
#include <span>

#include "conf/config.h"
#include "proxy/core/fd.h"
#include "proxy/core/loop.h"
#include "proxy/process/service.h"
#include "proxy/run/front_reports.h"
#include "proxy/serve/server.h"

namespace portico::run {

/// What there is to be seen and done: the supervisor, from the control socket's side.
class Controlled {
 public:
  virtual const conf::Config& config() const = 0;
  virtual std::span<const std::unique_ptr<process::Service>> services() const = 0;
  virtual FrontReports& front_reports() = 0;
  virtual pid_t front_pid() const = 0;
  virtual core::Duration age() const = 0;
  virtual bool stopping() const = 0;
  virtual void stop() = 0;  ///< gracefully; nothing happens when it stops already

 protected:
  ~Controlled() = default;
};

class Control {
 public:
  /// listening  of a ControlSocket; portico  outlives this
  Control(core::Loop& loop, core::Fd listening, Controlled& portico);

 private:
  serve::Server server_;
};

}  // namespace portico::run
