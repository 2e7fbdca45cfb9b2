#include "proxy/route/counters.h"

#include "proxy/serve/exchange.h"

namespace portico::route {
namespace {

void increase(SiteCounts::Count& count, std::uint64_t by) {
  count.fetch_add(by, std::memory_order_relaxed);
}

std::size_t status_class(int status) {
  return status >= 100 && status < 600 ? static_cast<std::size_t>(status) / 100 : 0;
}

}  // namespace

void SiteCounts::add(const serve::Trace& trace) {
  increase(by_class[status_class(trace.status)], 1);
  increase(by_fault[static_cast<std::size_t>(trace.error.fault)], 1);
  increase(by_outcome[static_cast<std::size_t>(outcome(trace))], 1);
  increase(request_bytes, trace.request_bytes);
  increase(response_bytes, trace.response_bytes);
}

SiteCounts& Counters::of(const std::string& site) {
  const std::lock_guard lock(mutex_);
  auto& counts = sites_[site];
  if (counts == nullptr) counts = std::make_unique<SiteCounts>();
  return *counts;
}

void Counters::for_each(
    const std::function<void(const std::string& site, const SiteCounts&)>& read) const {
  const std::lock_guard lock(mutex_);
  for (const auto& [site, counts] : sites_) read(site, *counts);
}

}  // namespace portico::route
