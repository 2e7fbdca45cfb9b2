// Policy: how a pool orders its candidates. It sees numbers only.
//
// Owned by a pool, which calls it with its mutex held: a policy may keep state without locks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "conf/config.h"

namespace portico::balancer {

/// One endpoint that may be chosen.
struct Option {
  std::size_t member = 0;  ///< its place in the pool, in written order
  unsigned weight = 1;     ///< at least 1
  unsigned in_flight = 0;  ///< requests under way
};

class Policy {
 public:
  virtual ~Policy() = default;
  /// options  at least one, in order of `member`; not always all of the pool's
  /// key      what policies by hash go by; the others ignore it
  /// Returns  the index of the chosen one in `options`
  virtual std::size_t choose(std::span<const Option> options, std::uint64_t key) = 0;
};

/// members  how many endpoints the pool has
std::unique_ptr<Policy> make_policy(conf::Policy policy, std::size_t members);

}  // namespace portico::balancer
