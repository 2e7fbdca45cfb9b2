#include "proxy/route/live_endpoint.h"

#include <utility>

namespace portico::route {
namespace {

using std::chrono::duration_cast;
using std::chrono::milliseconds;

}  // namespace

LiveEndpoint::LiveEndpoint(const conf::Address& written)
    : written_(written), state_(written.text()) {
  const auto literal = net::Address::parse(written.text());
  named_ = !literal;
  addresses_ = std::make_shared<const std::vector<net::Address>>(
      literal ? std::vector{*literal} : std::vector<net::Address>());
  if (named_) state_.resolvable(false);
}

LiveEndpoint::Addresses LiveEndpoint::addresses() const {
  const std::lock_guard lock(mutex_);
  return addresses_;
}

void LiveEndpoint::resolved(std::vector<net::Address> addresses) {
  auto published = std::make_shared<const std::vector<net::Address>>(std::move(addresses));
  {
    const std::lock_guard lock(mutex_);
    addresses_ = std::move(published);
  }
  state_.resolvable(true);
}

core::Duration LiveEndpoint::idle_limit(core::Duration configured, core::Time now) const {
  return state_.idle_limit().within(duration_cast<milliseconds>(configured), now);
}

void LiveEndpoint::told_idle_limit(core::Duration limit, core::Time now) {
  state_.idle_limit().told(duration_cast<milliseconds>(limit), now);
}

void LiveEndpoint::closed_idle(core::Duration age, core::Time now) {
  state_.idle_limit().closed_after(duration_cast<milliseconds>(age), now);
}

}  // namespace portico::route
