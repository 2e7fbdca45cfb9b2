// The status as one JSON object; its names are stable: portico(8), "STATUS". Pure.
#pragma once

#include <string>

#include "proxy/run/status.h"

namespace portico::run {

std::string status_json(const Status& status);

}  // namespace portico::run
