// Makes the services that the supervisor looks after: one for each WSGI application.
#pragma once

#include <memory>
#include <vector>

#include "conf/config.h"
#include "proxy/core/loop.h"
#include "proxy/process/service.h"

namespace portico::backend {

/// Services, not yet started; `supervisor` is woken when one has stopped.
std::vector<std::unique_ptr<process::Service>> make_services(core::Active& supervisor,
                                                             const conf::Config& config);

}  // namespace portico::backend
