// Handler and Task: what answers an exchange. Shared by the front threads, hence const.
//
// A Handler is immutable and belongs to a snapshot. What a handler needs for one thread it keeps
// under Loop::index(). A Task is owned by its exchange and runs in that exchange's thread.
#pragma once

#include <memory>

namespace portico::serve {

class Exchange;

/// The work under way for one exchange; destroying it cancels it. The body that it answered with is
/// destroyed before it, so that a body may refer to its task.
class Task {
 public:
  virtual ~Task() = default;
  /// The client has sent its last byte (end of its side): it may still read. A request that only
  /// waits in a queue is given up here, as its client has most likely left.
  virtual void client_finished() {}
};

class Handler {
 public:
  virtual ~Handler() = default;
  /// Starts to answer. May call respond() or fail() at once, and then may return null.
  virtual std::unique_ptr<Task> start(Exchange& exchange) const = 0;
};

}  // namespace portico::serve
