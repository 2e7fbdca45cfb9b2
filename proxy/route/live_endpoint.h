// LiveEndpoint: an endpoint at work: what the balancer knows of it, and where to connect to.
//
// Shared by the front threads, by snapshots and by connections. Addresses are published by the
// thread that resolves names and read by those that connect: a small mutex, taken once a connect.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "balancer/endpoint.h"
#include "conf/config.h"
#include "proxy/client/destination.h"
#include "proxy/net/address.h"

namespace portico::route {

class LiveEndpoint final : public client::Destination {
 public:
  using Addresses = std::shared_ptr<const std::vector<net::Address>>;

  explicit LiveEndpoint(const conf::Address& written);

  balancer::Endpoint& state() { return state_; }
  const balancer::Endpoint& state() const { return state_; }
  const conf::Address& written() const { return written_; }
  /// Whether the address is a DNS name. Until it is resolved the endpoint is down (Outage::name).
  bool named() const { return named_; }

  /// Where to connect, never null; empty: the name is not resolved.
  Addresses addresses() const;
  /// What the name stands for now; never empty.
  void resolved(std::vector<net::Address> addresses);

  /// Index of the address that answered last: the first to be tried.
  std::size_t preferred() const { return preferred_.load(std::memory_order_relaxed); }
  void prefer(std::size_t index) { preferred_.store(index, std::memory_order_relaxed); }

  core::Duration idle_limit(core::Duration configured, core::Time now) const override;
  void told_idle_limit(core::Duration limit, core::Time now) override;
  void closed_idle(core::Duration age, core::Time now) override;

 private:
  const conf::Address written_;
  balancer::Endpoint state_;
  bool named_ = false;
  mutable std::mutex mutex_;
  Addresses addresses_;
  std::atomic<std::size_t> preferred_ = 0;
};

}  // namespace portico::route
