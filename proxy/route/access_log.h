// AccessLog: the journal of a site: counts every exchange and writes it down as one line.
//
// Owned by a snapshot, shared by the front threads. A line is formatted in the exchange's thread
// and handed to the file's own thread: no loop waits for a disk (core/log.h).
#pragma once

#include <memory>

#include "conf/config.h"
#include "proxy/core/log_file.h"
#include "proxy/route/counters.h"
#include "proxy/serve/exchange.h"

namespace portico::route {

class AccessLog final : public serve::Journal {
 public:
  /// file  null: counts only (`access: "off"`)
  AccessLog(std::shared_ptr<core::LogFile> file, conf::LogFormat format, SiteCounts& counts)
      : file_(std::move(file)), format_(format), counts_(counts) {}

  void finished(const serve::Exchange& exchange) const override;

 private:
  std::shared_ptr<core::LogFile> file_;
  conf::LogFormat format_;
  SiteCounts& counts_;
};

}  // namespace portico::route
