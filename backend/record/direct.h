// Direct: how the front calls an embedded application in its own loop, without a socket between.
//
// The engine exports a table of this type as `portico_direct`; the front finds it in the module
// that the interpreter has loaded. One thread calls, the front's only one. Records and frames are
// what they are elsewhere; the GIL is held within a call and free between calls.
#pragma once

#include <cstddef>

namespace portico::record {

/// What a call has brought so far.
struct DirectAnswer {
  const char* frames = nullptr;  ///< whole frames, in order; until the next call of either function
  std::size_t size = 0;
  int descriptor = -1;   ///< of a file frame among them; the receiver closes it
  void* rest = nullptr;  ///< for resume(); null: the call is over, and its answer has ended
};

/// The engine's side.
struct Direct {
  /// Calls the application for one record, whose cell is `sent`. Comes back with all of the answer,
  /// or with its first bytes.
  ///
  /// record  as in the queue; copied
  /// body    the body's descriptor or -1; the engine's from here on
  DirectAnswer (*begin)(const char* record, std::size_t size, int body);
  /// Goes on with an answer for about a millisecond, calls close() once it has ended, or ends it
  /// when its cell is cancelled. Must be called until there is no rest.
  DirectAnswer (*resume)(void* rest);
};

}  // namespace portico::record
