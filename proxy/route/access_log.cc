#include "proxy/route/access_log.h"

#include <string>

#include "proxy/route/log_line.h"

namespace portico::route {
namespace {

// The trace has the monotonic clock, a line the time of day.
WallTime began(const serve::Exchange& exchange) {
  const core::Time started = exchange.trace().started;
  const WallTime now = std::chrono::system_clock::now();
  if (started == core::Time()) return now;
  return now - std::chrono::duration_cast<WallTime::duration>(exchange.loop().now() - started);
}

}  // namespace

void AccessLog::finished(const serve::Exchange& exchange) const {
  counts_.add(exchange.trace());
  if (file_ == nullptr) return;
  thread_local std::string line;
  line.clear();
  append_line(line, format_, exchange, began(exchange));
  file_->write(line);
}

}  // namespace portico::route
