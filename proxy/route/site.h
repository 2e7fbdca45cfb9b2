// Site and Route: a website compiled for use: its routes, the longest first, and its rules.
//
// Owned by the router of a snapshot, immutable, any thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "conf/config.h"
#include "proxy/core/result.h"
#include "proxy/http/limits.h"
#include "proxy/http/path.h"
#include "proxy/serve/exchange.h"
#include "proxy/serve/handler.h"

namespace portico::route {

/// A path prefix and what answers there.
class Route {
 public:
  Route(const conf::Route& written, std::shared_ptr<const serve::Handler> handler);

  /// As the operator wrote it.
  std::string_view path() const { return path_; }
  /// Whether `path` (canonical, or "*") is the prefix or lies below it, on whole segments: a last
  /// slash of the prefix makes no difference, so "/blog/" and "/blog" both take "/blog" and
  /// "/blog/x", neither takes "/blogger". "/" takes everything, "*" too.
  bool takes(std::string_view path) const;
  const serve::Handler& handler() const { return *handler_; }
  bool over_http() const { return over_http_; }  ///< goes on to an endpoint, not to a worker

  /// Sets this route's limits; refuses what is too large already by what its head says.
  /// Errors   head_too_large, target_too_long, body_too_large
  core::Result<void> admit(serve::Exchange& exchange) const;

 private:
  std::string path_;
  std::string prefix_;  // without its last slash
  std::shared_ptr<const serve::Handler> handler_;
  bool over_http_;
  http::ReadLimits head_;
  serve::ExchangeLimits limits_;
};

class Site {
 public:
  /// journal  hears of this site's exchanges
  Site(const conf::Site& written, std::vector<Route> routes,
       std::unique_ptr<const serve::Journal> journal);

  std::string_view name() const { return name_; }
  const serve::Journal& journal() const { return *journal_; }
  const http::PathRules& path_rules() const { return path_rules_; }
  bool serves(std::string_view method) const;
  const Route* find(std::string_view path) const;  ///< null: no route

 private:
  std::string name_;
  http::PathRules path_rules_;
  bool unknown_methods_;
  std::vector<Route> routes_;  // longest prefix first
  std::unique_ptr<const serve::Journal> journal_;
};

}  // namespace portico::route
