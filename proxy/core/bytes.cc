#include "proxy/core/bytes.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <new>
#include <vector>

namespace portico::core {
namespace {

// How many free blocks of each size a thread keeps: 1 MiB each, enough for a busy turn.
constexpr std::size_t kept_bytes = 1024 * 1024;

// Up to this a copy shares a block with others.
constexpr std::size_t small_copy = 256;

#if defined(__SANITIZE_ADDRESS__)
constexpr bool keep_blocks = false;  // so that a use after release is seen
#else
constexpr bool keep_blocks = true;
#endif

/// The free blocks of one size in one thread.
class FreeBlocks {
 public:
  explicit FreeBlocks(std::size_t capacity) : capacity_(capacity) {
    blocks_.reserve(kept_bytes / capacity);
  }
  FreeBlocks(const FreeBlocks&) = delete;
  FreeBlocks& operator=(const FreeBlocks&) = delete;
  ~FreeBlocks() {
    for (void* block : blocks_) std::free(block);
    closed = true;
  }

  bool holds(std::size_t capacity) const { return capacity == capacity_; }
  void* take() {
    if (blocks_.empty()) return nullptr;
    void* block = blocks_.back();
    blocks_.pop_back();
    return block;
  }
  bool keep(void* block) {
    if (blocks_.size() * capacity_ >= kept_bytes) return false;
    blocks_.push_back(block);
    return true;
  }

  static thread_local bool closed;  // blocks may die after these lists, at the end of a thread

 private:
  std::size_t capacity_;
  std::vector<void*> blocks_;
};
thread_local bool FreeBlocks::closed = false;
thread_local FreeBlocks free_blocks(block_bytes);
thread_local FreeBlocks free_large_blocks(large_block_bytes);

FreeBlocks* store_of(std::size_t capacity) {
  if (!keep_blocks || FreeBlocks::closed) return nullptr;
  if (free_blocks.holds(capacity)) return &free_blocks;
  return free_large_blocks.holds(capacity) ? &free_large_blocks : nullptr;
}

void* allocate(std::size_t capacity) {
  if (FreeBlocks* store = store_of(capacity); store != nullptr) {
    if (void* block = store->take(); block != nullptr) return block;
  }
  void* memory = std::malloc(sizeof(Block) + capacity);
  if (memory == nullptr) throw std::bad_alloc();  // our fault is a crash: nobody catches this
  return memory;
}

}  // namespace

Block* Block::make(std::size_t capacity) { return new (allocate(capacity)) Block(capacity); }

void Block::destroy(Block* block) {
  FreeBlocks* store = store_of(block->capacity_);
  if (store == nullptr || !store->keep(block)) std::free(block);
}

Slice Slice::copy(std::string_view text) {
  if (text.empty()) return {};
  if (text.size() <= small_copy) {
    Buffer::shared().append(text);
    return Buffer::shared().take();
  }
  Block* block = Block::make(text.size());
  std::memcpy(block->bytes(), text.data(), text.size());
  return Slice(block, {block->bytes(), text.size()});
}

Buffer& Buffer::shared() {
  thread_local Buffer mine = [] {
    Buffer made;
    made.least_ = block_bytes;
    return made;
  }();
  return mine;
}

void Buffer::reserve(std::size_t more) {
  if (room_bytes() >= more && block_ != nullptr) return;
  const std::size_t held = size();
  Block* larger = Block::make(std::max({held + more, held * 2, least_}));
  if (held != 0) std::memcpy(larger->bytes(), block_->bytes() + begin_, held);
  if (block_ != nullptr) block_->release();
  block_ = larger;
  begin_ = 0;
  end_ = held;
}

void Buffer::append(std::string_view text) {
  if (text.empty()) return;
  reserve(text.size());
  std::memcpy(room(), text.data(), text.size());
  end_ += text.size();
}

void Buffer::append_decimal(std::uint64_t number) {
  std::array<char, 20> digits;  // 2^64 has 20 of them
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  append({digits.data(), static_cast<std::size_t>(end - digits.data())});
}

Slice Buffer::take() {
  if (empty()) return {};
  Slice taken = Slice::within(*block_, view());
  begin_ = end_;
  return taken;
}

}  // namespace portico::core
