// The two callables that an application gets: start_response, and the write it returns.
//
// One pair a worker thread, used again for the next request unless the application has kept one of
// them: a kept one is dead and says so. Under the GIL. What they do is in answer.h. Source: PEP
// 3333.
#pragma once

#include "backend/engine/answer.h"
#include "backend/engine/python.h"

namespace portico::engine {

/// Makes the type behind both; false with an exception.
bool make_start_response_type();

/// The worker thread's handle on its pair.
class StartResponseSlot {
 public:
  /// Points the pair at a request's answer. Returns start_response, borrowed; null with an
  /// exception.
  PyObject* begin(Answer& answer);
  /// Ends the request: from now on both raise, wherever they are kept.
  void end();

 private:
  bool make();

  Ref state_;
  Ref start_;
  Ref write_;
};

}  // namespace portico::engine
