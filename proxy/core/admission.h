// Admission: how much of a pool or an application is in use, and who waits for it. Shared by the
// front threads: one mutex; a freed slot goes to the next ticket, whose thread hears of it by
// post().
//
// Rule: tickets are served in the order in which they came, whichever thread they belong to.
#pragma once

#include <cstddef>
#include <mutex>

#include "proxy/core/list.h"
#include "proxy/core/loop.h"

namespace portico::core {

class Admission;

/// A place in the queue, owned by a task; leaving the scope gives up the place, or the slot it got.
class Ticket : public Link<Ticket> {
 public:
  explicit Ticket(Active& owner) : owner_(owner) {}
  ~Ticket() { leave(); }

  /// Takes a slot if one is free and nobody waits, else queues. False: the queue is full.
  bool enter(Admission& admission);
  bool admitted() const;  ///< holds a slot; owner is woken when this becomes true
  bool waiting() const;
  void leave();  ///< gives back the slot or the place

 private:
  friend class Admission;
  struct Notice;  // travels by post(); outlives the ticket if need be

  Active& owner_;
  Admission* admission_ = nullptr;
  enum class State { out, waiting, admitted } state_ = State::out;
  Notice* notice_ = nullptr;
};

class Admission {
 public:
  /// slots  how many at a time; queue  how many may wait
  Admission(std::size_t slots, std::size_t queue) : slots_(slots), queue_limit_(queue) {}

  void resize(std::size_t slots);  ///< more slots admit the next tickets at once; any thread
  std::size_t load() const;        ///< in use or waiting
  std::size_t in_use() const;
  std::size_t waiting() const;

 private:
  friend class Ticket;
  void admit_next();  // with the mutex held

  mutable std::mutex mutex_;
  std::size_t slots_;
  std::size_t queue_limit_;
  std::size_t used_ = 0;
  std::size_t waiting_ = 0;
  List<Ticket> queue_;
};

}  // namespace portico::core
