// The clock of the balancer's facts. Nothing here reads it: the caller passes the time in.
#pragma once

#include <chrono>

namespace portico::balancer {

using Time = std::chrono::steady_clock::time_point;
using std::chrono::milliseconds;

}  // namespace portico::balancer
