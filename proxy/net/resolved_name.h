// ResolvedName: a name whose addresses are kept fresh: asked again at the end of their time to
// live, and the last good ones kept, marked stale, while DNS fails.
//
// Owned by whoever uses the addresses, such as a pool's endpoint list; the resolver outlives it.
// One thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "proxy/core/loop.h"
#include "proxy/core/timer.h"
#include "proxy/net/resolver.h"

namespace portico::net {

/// How long an answer is believed, and how soon one that failed is asked for again.
struct Freshness {
  core::Duration shortest_ttl = std::chrono::seconds(5);  ///< a TTL of zero would be a flood
  core::Duration longest_ttl = std::chrono::hours(1);
  core::Duration first_retry = std::chrono::seconds(1);  ///< doubled each time
  core::Duration longest_retry = std::chrono::seconds(30);
};

class ResolvedName final : public core::Active {
 public:
  /// Starts to resolve. `user` is woken when addresses() or stale() has changed.
  ResolvedName(Resolver& resolver, core::Active& user, std::string name, std::uint16_t port,
               const Freshness& freshness = {});

  /// Sorted, without doubles; empty before the first answer.
  const std::vector<Address>& addresses() const { return addresses_; }
  bool known() const { return known_; }                             ///< there was an answer once
  bool stale() const { return error_.fault != core::Fault::none; }  ///< the last attempt failed
  const core::Error& error() const { return error_; }               ///< why it failed
  const std::string& name() const { return name_; }
  unsigned attempts() const { return attempts_; }  ///< how often it was asked for

  void advance() override;

 private:
  void ask();
  void accept(const Answer& answer);
  void put_off(const core::Error& error);

  Resolver& resolver_;
  core::Active& user_;
  std::string name_;
  std::uint16_t port_;
  std::vector<Address> addresses_;
  bool known_ = false;
  unsigned attempts_ = 0;
  core::Error error_;
  Freshness freshness_;
  core::Duration retry_;
  core::Timer next_;
  std::optional<Lookup> lookup_;
};

}  // namespace portico::net
