// FrontReport: what the front knows that the supervisor does not: health of endpoints, requests.
//
// Made in the front when the supervisor asks (front.h), sent as text over their channel, read by
// whoever answers for status. The front faces the clients, so that its words are checked here: what
// does not fit is left out. Pure but for collect(); any thread.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "conf/config.h"
#include "proxy/core/loop.h"

namespace portico::route {
class Counters;
class Pools;
}  // namespace portico::route

namespace portico::run {

class Applications;

struct FrontReport {
  struct Site {
    std::string name;
    std::array<std::uint64_t, 6> by_class{};  ///< requests by class of status; [0] had no answer
  };
  struct Endpoint {
    std::string pool;
    std::string address;
    std::string outage;         ///< as balancer::name(Outage); "none": it gets requests
    std::uint64_t running = 0;  ///< requests at this moment
  };
  struct Application {
    std::string name;
    bool healthy = true;  ///< false: its health check fails
  };
  struct Worker {
    std::string application;
    std::uint64_t number = 0;
    std::uint64_t requests = 0;  ///< answered so far
  };

  std::vector<Site> sites;
  std::vector<Endpoint> endpoints;
  std::vector<Application> applications;
  std::vector<Worker> workers;
};

/// What stands there now, in the order of the configuration. Any thread of the front.
FrontReport collect(const conf::Config& config, const route::Pools& pools,
                    const route::Counters& counters, const Applications& applications,
                    core::Time now);

/// One line for each thing: its kind, then its values, with a tab between two.
std::string format_report(const FrontReport& report);
FrontReport parse_report(std::string_view text);

}  // namespace portico::run
