#include "balancer/policy.h"

#include "balancer/least_requests.h"
#include "balancer/round_robin.h"

namespace portico::balancer {

std::unique_ptr<Policy> make_policy(conf::Policy policy, std::size_t members) {
  switch (policy) {
    case conf::Policy::least_requests:
      return std::make_unique<LeastRequests>(members);
    case conf::Policy::round_robin:
      break;
  }
  return std::make_unique<RoundRobin>(members);
}

}  // namespace portico::balancer
