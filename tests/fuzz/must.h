// For fuzz targets: a property that has to hold, and a cut of the input that depends on it alone,
// so that a corpus is plain text and every finding can be replayed.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <string_view>

namespace portico::fuzz {

inline void must(bool holds) {
  if (!holds) std::abort();
}

/// Where to cut `text` in two: FNV-1a of its bytes, modulo its size and one.
inline std::size_t cut_of(std::string_view text) {
  std::size_t hash = 14695981039346656037u;
  for (char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return hash % (text.size() + 1);
}

}  // namespace portico::fuzz
