// Workers: the processes that a zygote has forked, from the supervisor's side.
//
// Owned by an ApplicationService; its thread. A table and no more: who is there, in which state, of
// which generation, with each one's control channel. A death is what wait says, not what a socket
// says.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "backend/record/control.h"
#include "proxy/core/loop.h"
#include "proxy/net/channel.h"

namespace portico::backend {

struct Worker {
  /// starting: the fork was asked for; ready: it takes records; leaving: it was told to go, or said
  /// so.
  enum class State { starting, ready, leaving };

  std::uint16_t number = 0;
  std::uint64_t generation = 0;
  pid_t zygote = 0;  ///< whose child it is; 0 once that has ended
  pid_t pid = 0;     ///< 0 until the zygote has told it
  State state = State::starting;
  core::Time since;                ///< in this state
  core::Time born;                 ///< when the fork was asked for
  pid_t hanging_tid = 0;           ///< of its threads, the one last found to hang
  bool has_answered = false;       ///< a whole answer: it came up well
  bool is_deaf = false;            ///< its control socket has ended
  bool is_overdue = false;         ///< it was killed for it
  bool is_unwanted = false;        ///< before it was ready: it has nothing to finish
  std::uint64_t most_answers = 0;  ///< after so many the front says that it is due; 0: never
  std::unique_ptr<net::Channel> control;
};

/// Of whom a message speaks; 0: of nobody.
std::uint16_t worker_of(const record::ControlMessage& heard);

class Workers {
 public:
  /// A number that no living worker bears; they go up, so that one is not used again soon.
  std::uint16_t next_number();
  Worker& add(std::uint16_t number, std::uint64_t generation, core::Time now,
              std::unique_ptr<net::Channel> control);
  Worker* find(std::uint16_t number);
  Worker* find_pid(pid_t pid);
  void remove(std::uint16_t number) { table_.erase(number); }
  /// Those that this zygote has forked, or was told to.
  std::vector<std::uint16_t> forked_by(pid_t zygote) const;
  void orphan(pid_t zygote);  ///< it has ended

  bool empty() const { return table_.empty(); }
  std::size_t count() const { return table_.size(); }
  bool any(std::uint64_t generation) const;
  /// Those of this generation that work or soon will.
  unsigned serving(std::uint64_t generation) const;
  bool any_ready(std::uint64_t generation) const { return ready(generation) != 0; }
  unsigned ready(std::uint64_t generation) const;
  const std::map<std::uint16_t, Worker>& all() const { return table_; }
  template <typename F>
  void for_each(F&& f) {
    for (auto at = table_.begin(); at != table_.end();) {
      Worker& worker = (at++)->second;  // f may remove it
      f(worker);
    }
  }

 private:
  std::map<std::uint16_t, Worker> table_;
  std::uint16_t last_ = 0;
};

}  // namespace portico::backend
