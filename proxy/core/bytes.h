// Bytes that are shared, never copied: counted views (Slice) into blocks, and a Buffer that fills
// one.
//
// Counts are not atomic and free blocks are kept per thread: a Slice stays in the thread that made
// it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

namespace portico::core {

/// Storage for bytes: a header with a count, then `capacity` bytes. Made and freed by the functions
/// here.
class Block {
 public:
  static Block* make(std::size_t capacity);  ///< with a count of one
  char* bytes() { return reinterpret_cast<char*>(this + 1); }
  std::size_t capacity() const { return capacity_; }
  void retain() { ++count_; }
  void release() {
    if (--count_ == 0) destroy(this);
  }

 private:
  explicit Block(std::size_t capacity) : capacity_(capacity) {}
  static void destroy(Block* block);

  std::size_t count_ = 1;
  std::size_t capacity_;
};

/// The block size of ordinary reads: one TLS record, and what most heads and pages fit in.
inline constexpr std::size_t block_bytes = 16 * 1024;
/// The block size of the largest reads, for long bodies.
inline constexpr std::size_t large_block_bytes = 128 * 1024;

/// A counted view of bytes. Cheap to copy; the bytes live as long as any slice of them.
class Slice {
 public:
  Slice() = default;
  Slice(const Slice& other) : block_(other.block_), view_(other.view_) {
    if (block_ != nullptr) block_->retain();
  }
  Slice(Slice&& other) noexcept
      : block_(std::exchange(other.block_, nullptr)), view_(std::exchange(other.view_, {})) {}
  Slice& operator=(Slice other) noexcept {
    std::swap(block_, other.block_);
    std::swap(view_, other.view_);
    return *this;
  }
  ~Slice() {
    if (block_ != nullptr) block_->release();
  }

  /// Bytes that outlive every use, such as a string literal.
  static Slice literal(std::string_view text) { return Slice(nullptr, text); }
  static Slice copy(std::string_view text);  ///< for a request's life: see Buffer::shared
  /// A view into `block`, whose count goes up by one.
  static Slice within(Block& block, std::string_view view) {
    block.retain();
    return Slice(&block, view);
  }

  const char* data() const { return view_.data(); }
  std::size_t size() const { return view_.size(); }
  bool empty() const { return view_.empty(); }
  std::string_view view() const { return view_; }
  /// For code that rewrites bytes it alone has been handed (lower-casing names); never for
  /// literals.
  char* mutable_data() { return const_cast<char*>(view_.data()); }

  Slice sub(std::size_t offset, std::size_t length = std::string_view::npos) const {
    Slice part(*this);
    part.view_ = view_.substr(offset, length);
    return part;
  }
  void drop_front(std::size_t length) { view_.remove_prefix(length); }
  Slice take_front(std::size_t length) {
    Slice front = sub(0, length);
    drop_front(front.size());
    return front;
  }

 private:
  Slice(Block* block, std::string_view view) : block_(block), view_(view) {}

  Block* block_ = nullptr;
  std::string_view view_;
};

/// A block being filled. Appended bytes are taken as slices; growing copies only what is not yet
/// taken.
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(std::size_t capacity) { reserve(capacity); }
  /// This thread's, for what is small and soon gone: its blocks are of block_bytes, and shared by
  /// the slices of many takers. Whoever appends takes before anybody else can append.
  static Buffer& shared();
  Buffer(Buffer&& other) noexcept
      : block_(std::exchange(other.block_, nullptr)),
        begin_(std::exchange(other.begin_, 0)),
        end_(std::exchange(other.end_, 0)),
        least_(other.least_) {}
  Buffer& operator=(Buffer&& other) noexcept {
    std::swap(block_, other.block_);
    std::swap(begin_, other.begin_);
    std::swap(end_, other.end_);
    std::swap(least_, other.least_);
    return *this;
  }
  ~Buffer() {
    if (block_ != nullptr) block_->release();
  }

  /// Makes room for `more` bytes after what is there.
  void reserve(std::size_t more);
  char* room() { return block_->bytes() + end_; }
  std::size_t room_bytes() const { return block_ == nullptr ? 0 : block_->capacity() - end_; }
  /// Tells that `count` bytes have been written to room().
  void grew(std::size_t count) { end_ += count; }
  void append(std::string_view text);
  void append(char c) { append(std::string_view(&c, 1)); }
  void append_decimal(std::uint64_t number);

  std::size_t size() const { return end_ - begin_; }
  bool empty() const { return end_ == begin_; }
  std::string_view view() const {
    return block_ == nullptr ? std::string_view()
                             : std::string_view(block_->bytes() + begin_, size());
  }
  /// Everything appended since the last take; later appends go behind it in the same block.
  Slice take();

 private:
  Block* block_ = nullptr;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::size_t least_ = 0;  // of a block's capacity
};

}  // namespace portico::core
