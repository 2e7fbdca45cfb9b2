// The callables that an application gets with each request: start_response, the write it returns,
// wsgi.early_hints and portico.client_disconnected.
//
// One set a worker thread, used again for the next request unless the application has kept one of
// them: a kept one is dead and says so. Under the GIL. What they do is in answer.h. Source: PEP
// 3333; early hints: RFC 8297.
#pragma once

#include "backend/engine/answer.h"
#include "backend/engine/python.h"

namespace portico::engine {

/// Makes the type behind all of them; false with an exception.
bool make_callables_type();

/// The worker thread's handle on its set.
class Callables {
 public:
  /// Points the set at a request's answer. False with an exception.
  bool begin(Answer& answer);
  /// Ends the request: from now on they raise, wherever they are kept, but for
  /// client_disconnected, which says True.
  void end();

  // Borrowed; between begin() and end().
  PyObject* start_response() const { return start_.get(); }
  PyObject* early_hints() const { return hints_.get(); }
  PyObject* client_disconnected() const { return disconnected_.get(); }

 private:
  bool make();
  bool is_kept() const;

  Ref state_;
  Ref start_;
  Ref write_;
  Ref hints_;
  Ref disconnected_;
};

}  // namespace portico::engine
