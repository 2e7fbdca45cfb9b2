// Recycling: which worker is due to make room for a new one, and why.
//
// Owned by an ApplicationService; its thread. It draws the limits, holds the times and chooses;
// what is counted and measured it is told, and starting, stopping and measuring are the service's.
// One worker at a time is chosen, and stays so until it has ended. portico.yaml(5), "RECYCLING".
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "conf/config.h"
#include "proxy/core/loop.h"
#include "proxy/core/timer.h"

namespace portico::backend {

class Recycling {
 public:
  /// The number of a worker; those begin at 1.
  using Id = std::uint16_t;
  /// From an answer to the look at the memory of whom it came from. A look walks the process's page
  /// tables, a few milliseconds for a gigabyte: this bounds it to a thousandth of a core for each.
  static constexpr core::Duration memory_look = std::chrono::seconds(5);

  /// owner  is woken when it is time for due_looks()
  Recycling(core::Active& owner, const conf::Recycle& rules);

  /// It is about to be forked. After how many answers it will be due; 0: that is no reason.
  std::uint64_t begin(Id id);
  void forget(Id id);

  bool looks_at_memory() const { return rules_.memory != 0; }
  /// It has answered something since its memory was looked at.
  void worked(Id id);
  /// Whose memory is to be looked at now. Notes who is too old.
  std::vector<Id> due_looks();

  void has_answered(Id id, std::uint64_t answers);  ///< as many as begin() said, or more
  void has_memory(Id id, std::uint64_t bytes);

  /// Of one that is due, as in "worker 3 is recycled after 10012 requests". Empty: it is not.
  const std::string& why(Id id) const;
  /// The one that is chosen; 0: none.
  Id chosen() const { return chosen_; }
  /// Chooses the one that has been due longest among those that fit. 0: none.
  Id choose(const std::function<bool(Id)>& fits);

 private:
  static constexpr core::Time never = core::Time::max();

  struct Life {
    core::Time born;
    core::Time old_at = never;
    core::Time look_at = never;  // at its memory
    std::uint64_t turn = 0;      // counts up as they become due; 0: it is not
    std::string why;
  };
  double stretch();
  void due(Life& life, std::string why);

  core::Active& owner_;
  const conf::Recycle rules_;
  std::minstd_rand random_{std::random_device{}()};
  std::map<Id, Life> lives_;
  std::uint64_t last_turn_ = 0;
  Id chosen_ = 0;
  core::Timer timer_;
};

}  // namespace portico::backend
