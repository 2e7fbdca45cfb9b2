// The Python texts that the engine carries: boot.py, which loader.py runs, its parts, and
// portico.py, which it offers to applications. Constants.
#pragma once

namespace portico::engine {

struct Text {
  const char* name;  ///< of the file, without .py
  const char* begin;
  const char* end;
};

/// All of them; the last has no name.
extern const Text texts[];

}  // namespace portico::engine
