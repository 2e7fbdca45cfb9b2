// Banner: what the operator reads at a start: the version, where to knock, what answers there.
// Pure; the supervisor logs each line.
#pragma once

#include <string>
#include <vector>

#include "conf/config.h"
#include "proxy/run/bound_listener.h"

namespace portico::run {

/// "listening on http://localhost:8080 (every address of this machine)"
std::string listener_line(const BoundListener& listener);

/// "site shop.example: / is wsgi shop.wsgi in /srv/shop; /api/ goes
/// to 10.0.0.5:8000, 10.0.0.6:8000"
std::string site_line(const conf::Site& site, const conf::Config& config);

}  // namespace portico::run
