// Answers GET /v1/status: asks the front, waits a little, and says how everything is.
//
// In the supervisor's thread; the task belongs to its exchange.
#pragma once

#include <memory>

#include "proxy/run/control_routes.h"

namespace portico::run {

/// JSON; with `format=text` what people read, with `colours=yes` in colours. The field
/// Portico-State of the answer says well, degraded or down.
std::unique_ptr<serve::Task> answer_status(const ControlCall& call);

}  // namespace portico::run
