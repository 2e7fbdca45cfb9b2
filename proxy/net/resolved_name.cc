#include "proxy/net/resolved_name.h"

#include <algorithm>
#include <utility>

namespace portico::net {

ResolvedName::ResolvedName(Resolver& resolver, core::Active& user, std::string name,
                           std::uint16_t port, const Freshness& freshness)
    : Active(resolver.loop()),
      resolver_(resolver),
      user_(user),
      name_(std::move(name)),
      port_(port),
      freshness_(freshness),
      retry_(freshness.first_retry),
      next_(*this) {
  ask();
}

void ResolvedName::ask() {
  next_.clear();
  ++attempts_;
  lookup_.emplace(resolver_, *this, name_, port_);
}

void ResolvedName::advance() {
  if (next_.due()) ask();
  if (!lookup_) return;
  const auto result = lookup_->take();
  if (result && !*result) return;
  lookup_.reset();
  if (result) {
    accept(**result);
  } else {
    put_off(result.error());
  }
}

void ResolvedName::accept(const Answer& answer) {
  std::vector<Address> addresses = answer.addresses;
  std::sort(addresses.begin(), addresses.end());
  addresses.erase(std::unique(addresses.begin(), addresses.end()), addresses.end());
  const bool news = stale() || !known_ || addresses != addresses_;
  addresses_ = std::move(addresses);
  known_ = true;
  error_ = {};
  retry_ = freshness_.first_retry;
  next_.set_after(std::clamp(answer.ttl, freshness_.shortest_ttl, freshness_.longest_ttl));
  if (news) user_.wake();
}

void ResolvedName::put_off(const core::Error& error) {
  const bool news = !stale();
  error_ = error;
  next_.set_after(retry_);
  retry_ = std::min(retry_ * 2, freshness_.longest_retry);
  if (news) user_.wake();
}

}  // namespace portico::net
