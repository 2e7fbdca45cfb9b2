// Endpoint: what is known of an address that answers HTTP. No socket, no resolved address.
//
// Shared by the front threads (house rule 10), and by the snapshots that name the same address in
// the same pool, so that a reload forgets nothing. Facts come from any thread, results of probes
// from one.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "balancer/health.h"
#include "balancer/idle_limit.h"
#include "balancer/outlier.h"
#include "balancer/time.h"

namespace portico::balancer {

/// Why an endpoint gets no requests.
enum class Outage : std::uint8_t {
  none,     ///< it gets them
  name,     ///< its DNS name does not resolve
  probes,   ///< probes found it down
  failures  ///< marked by what requests met; see outlier.h
};

std::string_view name(Outage outage);

class Endpoint {
 public:
  /// name  the address as configured, for logs and status
  explicit Endpoint(std::string name) : name_(std::move(name)) {}
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  const std::string& name() const { return name_; }
  Condition condition() const { return condition_.load(std::memory_order_relaxed); }
  Outage outage(Time now) const;
  bool usable(Time now) const { return outage(now) == Outage::none; }
  /// When an endpoint that is out by failures is tried again; the past for every other.
  Time back_at() const { return outlier_.back_at(); }
  unsigned in_flight() const { return in_flight_.load(std::memory_order_relaxed); }

  /// A probe's result. Only from the thread that probes. True: usable() may have changed.
  bool probed(Probed result, const Thresholds& thresholds);
  void resolvable(bool yes) { resolvable_.store(yes, std::memory_order_relaxed); }

  /// What requests meet; see outlier.h for what counts.
  void failed(Time now, const OutlierRule& rule) { outlier_.failed(now, rule); }
  void succeeded(Time now) { outlier_.succeeded(now); }

  IdleLimit& idle_limit() { return idle_limit_; }
  const IdleLimit& idle_limit() const { return idle_limit_; }

 private:
  friend class Lease;

  const std::string name_;
  std::atomic<unsigned> in_flight_ = 0;
  std::atomic<bool> resolvable_ = true;
  std::atomic<Condition> condition_ = Condition::probing;
  Health health_;  // the probing thread's own
  Outlier outlier_;
  IdleLimit idle_limit_;
};

/// One request that an endpoint has been chosen for: counts as in flight as long as it lives. The
/// pool that gave it must live longer.
class Lease {
 public:
  Lease() = default;
  Lease(Endpoint& endpoint, std::size_t member) : endpoint_(&endpoint), member_(member) {
    endpoint.in_flight_.fetch_add(1, std::memory_order_relaxed);
  }
  Lease(Lease&& other) noexcept
      : endpoint_(std::exchange(other.endpoint_, nullptr)), member_(other.member_) {}
  Lease& operator=(Lease&& other) noexcept {
    std::swap(endpoint_, other.endpoint_);
    std::swap(member_, other.member_);
    return *this;
  }
  ~Lease() {
    if (endpoint_ != nullptr) endpoint_->in_flight_.fetch_sub(1, std::memory_order_relaxed);
  }

  explicit operator bool() const { return endpoint_ != nullptr; }
  Endpoint& endpoint() const { return *endpoint_; }
  std::size_t member() const { return member_; }  ///< its place in the pool, in written order

 private:
  Endpoint* endpoint_ = nullptr;
  std::size_t member_ = 0;
};

}  // namespace portico::balancer
