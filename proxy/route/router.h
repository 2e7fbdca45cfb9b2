// Router: picks the site and the route of an exchange, checks what their rules forbid, says who
// asks, and starts the route's handler. Is itself a handler.
//
// Owned by a snapshot, shared by the front threads, immutable. Rules: RFC 9110 §7.4 (421), §9.3.6,
// §9.3.8; host first, then the longest path, then nothing else. Nothing of a request that no site
// claims reaches any endpoint or application.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "proxy/core/result.h"
#include "proxy/route/forwarded.h"
#include "proxy/route/hosts.h"
#include "proxy/route/site.h"
#include "proxy/route/via.h"
#include "proxy/serve/exchange.h"
#include "proxy/serve/handler.h"

namespace portico::route {

class Router final : public serve::Handler {
 public:
  /// instance  our name in Via
  Router(Hosts hosts, std::vector<std::unique_ptr<const Site>> sites, Forwarded forwarded,
         std::string instance);

  /// Faults   unknown_host, loop_detected, bad_target, method_refused, no_route, and those of
  ///          Route::admit; each reported to the site's journal once the site is known
  std::unique_ptr<serve::Task> start(serve::Exchange& exchange) const override;

 private:
  core::Result<const Site*> enter_site(serve::Exchange& exchange) const;
  core::Result<const Route*> choose(serve::Exchange& exchange) const;
  void pass_on(serve::Exchange& exchange, const Route& route, const Origin& origin) const;

  Hosts hosts_;
  std::vector<std::unique_ptr<const Site>> sites_;
  Forwarded forwarded_;
  Via via_;
};

}  // namespace portico::route
