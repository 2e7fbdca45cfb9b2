// wsgi.input of a streamed request: the body as a file that is read while the client sends it.
//
// Like input.h's object in everything but that reads wait for the client, that nothing can be read
// again (no seek), and that a body which will not be complete raises a ConnectionError. The GIL is
// given up while it waits. record/feed.h has the messages; PEP 3333 "Input and Error Streams".
#pragma once

#include "backend/engine/python.h"
#include "backend/record/record.h"

namespace portico::engine {

/// Makes the type; false with an exception.
bool make_feed_input_type();

/// The worker thread's handle on its object, which is used again unless the application has kept
/// it.
class FeedSlot {
 public:
  /// Takes `descriptor`, the worker's end of the feed, over. Returns a borrowed reference, or null
  /// with an exception.
  PyObject* begin(const record::Record& record, int descriptor);
  /// Ends the request: nothing is read any more, and whatever the application has kept is dead. A
  /// thread that still reads is sent away.
  void end();
  /// Whether the body has turned out never to be complete, and the application knows.
  bool failed() const;

 private:
  Ref object_;
};

}  // namespace portico::engine
