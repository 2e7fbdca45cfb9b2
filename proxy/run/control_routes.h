// ControlRoutes: what can be asked over the control socket, by whom, and what answers.
//
// The table in control_routes.cc is the whole interface. A new request is a row there and a
// function that answers: at once (answer_text), later (a Task), or in lines as things go on
// (LinesBody). Errors are one line of text. The supervisor's thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "proxy/run/control.h"
#include "proxy/run/control_access.h"
#include "proxy/serve/exchange.h"
#include "proxy/serve/handler.h"

namespace portico::run {

/// One request that was let in.
struct ControlCall {
  Controlled& portico;
  serve::Exchange& exchange;
  const ControlAccess& access;
  std::string site;        ///< the segment that "*" stands for; empty where there is none
  std::string_view query;  ///< behind "?"
};

/// What a caller must be allowed to do.
enum class Needs : std::uint8_t { anything, site, everything };

struct ControlRoute {
  std::string_view method;
  std::string_view path;  ///< "*" stands for one segment: the name of a site
  Needs needs;
  std::unique_ptr<serve::Task> (*answer)(const ControlCall& call);
};

/// The value of a query's parameter; "" where it does not stand.
std::string_view parameter(std::string_view query, std::string_view name);

/// Whether a path is of the pattern; then `site` is what stands for "*", percent-decoded.
bool matches(std::string_view pattern, std::string_view path, std::string& site);

void answer_text(serve::Exchange& exchange, int status, std::string_view type,
                 std::string_view text);

/// Finds the route, checks the caller and answers.
class ControlHandler final : public serve::Handler {
 public:
  explicit ControlHandler(Controlled& portico) : portico_(portico) {}
  std::unique_ptr<serve::Task> start(serve::Exchange& exchange) const override;

 private:
  Controlled& portico_;
};

}  // namespace portico::run
