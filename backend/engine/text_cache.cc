#include "backend/engine/text_cache.h"

#include <cstring>

#include "backend/engine/names.h"

namespace portico::engine {

TextCache text_cache;

std::uint64_t quick_hash(std::string_view text, std::uint64_t seed) {
  constexpr std::uint64_t odd = 0x9E3779B97F4A7C15U;  // 2^64 / golden ratio
  std::uint64_t hash = (seed ^ text.size()) * odd;
  const char* at = text.data();
  std::size_t left = text.size();
  std::uint64_t word = 0;
  for (; left >= 8; at += 8, left -= 8) {
    std::memcpy(&word, at, 8);
    hash = (hash ^ word) * odd;
    hash ^= hash >> 29;
  }
  word = 0;
  if (left > 0) std::memcpy(&word, at, left);
  hash = (hash ^ word) * odd;
  return hash ^ hash >> 32;
}

PyObject* TextCache::text(std::string_view bytes) {
  if (bytes.empty()) {
    Py_INCREF(names.empty);
    return names.empty;
  }
  if (bytes.size() > longest) return latin1(bytes);
  Slot& slot = slots_[quick_hash(bytes) % slot_count];
  if (slot.size == bytes.size() && std::memcmp(slot.bytes, bytes.data(), bytes.size()) == 0) {
    Py_INCREF(slot.object);
    return slot.object;
  }
  PyObject* object = latin1(bytes);
  if (object == nullptr || !is_ascii(bytes)) return object;
  const char* memory = PyUnicode_AsUTF8AndSize(object, nullptr);
  if (memory == nullptr) return object;
  PyObject* old = slot.object;
  Py_INCREF(object);
  slot = {object, memory, static_cast<std::uint32_t>(bytes.size())};
  Py_XDECREF(old);
  return object;
}

}  // namespace portico::engine
