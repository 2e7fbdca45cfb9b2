// The operator's limits and timeouts in the words of proxy/serve. Pure; any thread.
#pragma once

#include "conf/config.h"
#include "proxy/http/limits.h"
#include "proxy/serve/exchange.h"

namespace portico::route {

http::ReadLimits head_limits(const conf::Limits& limits);
serve::ExchangeLimits exchange_limits(const conf::Timeouts& timeouts, const conf::Limits& limits);

}  // namespace portico::route
