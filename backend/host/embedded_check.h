// What this machine lacks for the embedded applications of a configuration: `portico check`.
//
// Runs each one's interpreter, as the user that the front would be, for the moment that it takes to
// say where its library is. The caller's thread waits; nothing else of Portico may run in it.
#pragma once

#include <vector>

#include "conf/config.h"
#include "conf/problem.h"

namespace portico::backend {

/// All are warnings, at the place that asks for the interpreter.
std::vector<conf::Problem> check_embedded(const conf::Config& config);

}  // namespace portico::backend
