#include "backend/engine/text_cache.h"

#include <cstring>

#include "backend/engine/names.h"

namespace portico::engine {

TextCache text_cache;

namespace {

constexpr std::uint64_t odd = 0x9E3779B97F4A7C15U;  // 2^64 / golden ratio

std::uint64_t word_at(const char* at) {
  std::uint64_t word;
  std::memcpy(&word, at, sizeof word);
  return word;
}

std::uint64_t mix(std::uint64_t hash, std::uint64_t word) {
  hash = (hash ^ word) * odd;
  return hash ^ hash >> 29;
}

}  // namespace

/// Four lanes for long texts, because each lane's multiplications wait for one another.
std::uint64_t quick_hash(std::string_view text) {
  const char* at = text.data();
  std::size_t left = text.size();
  std::uint64_t lanes[4] = {left, 1, 2, 3};
  for (; left >= 32; at += 32, left -= 32) {
    for (std::size_t i = 0; i < 4; ++i) lanes[i] = mix(lanes[i], word_at(at + i * 8));
  }
  std::uint64_t hash = mix(mix(lanes[0], lanes[1]), mix(lanes[2], lanes[3]));
  for (; left >= 8; at += 8, left -= 8) hash = mix(hash, word_at(at));
  std::uint64_t word = 0;
  if (left > 0) std::memcpy(&word, at, left);
  hash = mix(hash, word);
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
