// Counters: how many exchanges ended, by site, class of status and cause.
//
// One of the six things that front threads share (house rule 10). Owned by the front, written by
// the journals of its snapshots, read by run for status and metrics. Any thread; the counts of a
// site go on through reloads.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "proxy/core/result.h"
#include "proxy/route/outcome.h"

namespace portico::route {

inline constexpr std::size_t fault_count = static_cast<std::size_t>(core::Fault::internal) + 1;

/// What is counted of one site. Relaxed: each number is right, two of them may be an instant apart.
struct SiteCounts {
  using Count = std::atomic<std::uint64_t>;

  std::array<Count, 6> by_class{};            ///< of status: [2] is 2xx; [0] no answer was sent
  std::array<Count, fault_count> by_fault{};  ///< [Fault::none] had no failure of its own
  std::array<Count, outcome_count> by_outcome{};
  Count request_bytes = 0;  ///< of bodies
  Count response_bytes = 0;

  void add(const serve::Trace& trace);
};

class Counters {
 public:
  /// The counts of a site, made at the first call; "" is what reached no site. Valid as long as
  /// the Counters.
  SiteCounts& of(const std::string& site);
  void for_each(const std::function<void(const std::string& site, const SiteCounts&)>& read) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::unique_ptr<SiteCounts>> sites_;
};

}  // namespace portico::route
