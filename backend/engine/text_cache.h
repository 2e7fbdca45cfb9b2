// str objects for bytes that come again: most header values of a browser are the same in its next
// request.
//
// Direct-mapped, 4,096 slots, values up to 256 ASCII bytes; a miss replaces. One for the process,
// used under the GIL.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "backend/engine/python.h"

namespace portico::engine {

/// A quick 64-bit hash; not for anything that an attacker could gain by colliding.
std::uint64_t quick_hash(std::string_view text);

class TextCache {
 public:
  /// The latin-1 str of the bytes: new reference, or null with an exception.
  PyObject* text(std::string_view bytes);

 private:
  static constexpr std::size_t slot_count = 4096;
  static constexpr std::size_t longest = 256;

  struct Slot {
    PyObject* object;
    const char* bytes;  ///< the ASCII str's own memory
    std::uint32_t size;
  };
  Slot slots_[slot_count];
};
extern TextCache text_cache;

}  // namespace portico::engine
