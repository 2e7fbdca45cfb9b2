// SiteLog: what one service writes down: the lines of its processes, and its own words about them.
//
// Owned by the service; the supervisor's thread. All of it goes to our log on standard error,
// tagged with the service's name, and with its time to the site's RecentLines; what went wrong is
// kept apart for status.
#pragma once

#include <memory>
#include <string>

#include "proxy/core/result.h"
#include "proxy/process/lines.h"
#include "proxy/process/recent_lines.h"
#include "proxy/process/report.h"

namespace portico::process {

class SiteLog {
 public:
  /// recent  of the site, shared with its other services
  SiteLog(std::string tag, std::shared_ptr<RecentLines> recent)
      : tag_(std::move(tag)), recent_(std::move(recent)) {}

  /// The service says something; warnings and errors are troubles.
  void say(core::Level level, const std::string& text);
  /// For an Output of the service's processes, which this must outlive.
  /// process  which of them, where its lines are to be told apart
  Lines::Sink sink(const std::string& process = {});

  RecentLines& recent() const { return *recent_; }
  const Troubles& troubles() const { return troubles_; }

 private:
  const std::string tag_;
  const std::shared_ptr<RecentLines> recent_;
  Troubles troubles_;
};

}  // namespace portico::process
