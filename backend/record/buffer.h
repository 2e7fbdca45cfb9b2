// A growable byte buffer over malloc: what records and frames are written into.
//
// Owner: whoever writes (the front thread for records, the worker thread for frames); used by one
// thread at a time. It exists because the engine, which runs inside the site's Python, may depend
// on libc alone: no std::string, no operator new, no exceptions. Running out of memory ends the
// process (ARCHITECTURE, house rule 11).
#pragma once

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace portico::record {

/// Bytes that grow at the end. Keeps its memory on clear(); movable, not copyable.
class Buffer {
 public:
  Buffer() = default;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  Buffer(Buffer&& other) noexcept
      : bytes_(other.bytes_), size_(other.size_), capacity_(other.capacity_) {
    other.bytes_ = nullptr;
    other.size_ = other.capacity_ = 0;
  }
  Buffer& operator=(Buffer&& other) noexcept {
    if (this != &other) {
      std::free(bytes_);
      bytes_ = other.bytes_;
      size_ = other.size_;
      capacity_ = other.capacity_;
      other.bytes_ = nullptr;
      other.size_ = other.capacity_ = 0;
    }
    return *this;
  }
  ~Buffer() { std::free(bytes_); }

  /// Makes the buffer `count` bytes longer and returns where these (unset) bytes begin.
  /// The pointer is good until the next call that lengthens the buffer.
  char* extend(std::size_t count) {
    if (count > capacity_ - size_) grow(count);
    char* place = bytes_ + size_;
    size_ += count;
    return place;
  }
  void append(std::string_view text) {
    if (!text.empty()) std::memcpy(extend(text.size()), text.data(), text.size());
  }
  /// Appends the bytes of a plain value, in the machine's order: both sides are one machine.
  template <class Value>
  void append_value(const Value& value) {
    std::memcpy(extend(sizeof value), &value, sizeof value);
  }
  /// Cuts the buffer to `size` bytes, which must not be more than it has.
  void shorten(std::size_t size) { size_ = size; }
  void clear() { size_ = 0; }
  /// Gives back memory above `limit` bytes of capacity; only for an empty buffer.
  void trim(std::size_t limit) {
    if (size_ == 0 && capacity_ > limit) {
      std::free(bytes_);
      bytes_ = nullptr;
      capacity_ = 0;
    }
  }

  char* data() { return bytes_; }
  const char* data() const { return bytes_; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  std::string_view view() const { return {bytes_, size_}; }

 private:
  void grow(std::size_t count) {
    std::size_t wanted = size_ + count;
    std::size_t doubled = capacity_ < 512 ? 1024 : capacity_ * 2;
    std::size_t capacity = wanted > doubled ? wanted : doubled;
    char* moved = static_cast<char*>(std::realloc(bytes_, capacity));
    if (moved == nullptr) std::abort();
    bytes_ = moved;
    capacity_ = capacity;
  }

  char* bytes_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace portico::record
