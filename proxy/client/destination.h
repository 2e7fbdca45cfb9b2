// Destination: the endpoint that a connection belongs to, as far as connections care: how long one
// may lie idle, and what is learned of that.
//
// Implemented by who keeps the endpoint's state; shared by its connections of all front threads.
#pragma once

#include "proxy/core/loop.h"

namespace portico::client {

class Destination {
 public:
  virtual ~Destination() = default;
  /// How long a connection may lie idle and be used again, if `configured` is the longest allowed.
  virtual core::Duration idle_limit(core::Duration configured, core::Time now) const = 0;
  /// The endpoint says how long it keeps an idle connection ("Keep-Alive: timeout=5").
  virtual void told_idle_limit(core::Duration limit, core::Time now) = 0;
  /// The endpoint closed a connection that had been idle for `age`.
  virtual void closed_idle(core::Duration age, core::Time now) = 0;
};

}  // namespace portico::client
