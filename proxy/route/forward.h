// Forward: the handler that passes an exchange on to an endpoint of a pool, and its answer back.
//
// The handler is shared and immutable; each exchange gets a task of its own, in the exchange's
// thread. Rules: design.md §6 (states), RFC 9110 §7.6 (fields), RFC 9112 §9.3-9.5 (connections),
// balancer/retry.h (when another endpoint is tried).
//
// What stands in request().fields is passed on but for hop-by-hop fields, so forwarding fields are
// the router's business. The target is request().where: canonical path, query as it came.
//
// When no endpoint is usable the request waits for one to come back, at most
// min(timeouts.queue, timeouts.connect); then it is answered 503 with Retry-After: the pool's probe
// interval in whole seconds, rounded up. Connects that were refused by every candidate are treated
// alike. A pool with a cap on connections lets requests wait for timeouts.queue (503), at most
// limits.queue of them (503).
#pragma once

#include <memory>

#include "conf/config.h"
#include "proxy/serve/handler.h"

namespace portico::route {

class LivePool;
class Pools;

/// route  gives the timeouts; pool  from pools.open(); pools  must outlive the handler
std::shared_ptr<const serve::Handler> make_forward(const conf::Route& route,
                                                   std::shared_ptr<LivePool> pool, Pools& pools);

}  // namespace portico::route
