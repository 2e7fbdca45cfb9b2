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

// How many free blocks of `block_bytes` a thread keeps: 1 MiB, enough for a busy turn.
constexpr std::size_t kept_blocks = 64;

#if defined(__SANITIZE_ADDRESS__)
constexpr bool keep_blocks = false;  // so that a use after release is seen
#else
constexpr bool keep_blocks = true;
#endif

struct FreeBlocks {
  FreeBlocks() { blocks.reserve(kept_blocks); }
  FreeBlocks(const FreeBlocks&) = delete;
  FreeBlocks& operator=(const FreeBlocks&) = delete;
  ~FreeBlocks() {
    for (void* block : blocks) std::free(block);
    closed = true;
  }
  std::vector<void*> blocks;
  static thread_local bool closed;  // blocks may die after this list, at the end of a thread
};
thread_local bool FreeBlocks::closed = false;
thread_local FreeBlocks free_blocks;

void* allocate(std::size_t capacity) {
  if (capacity == block_bytes && !FreeBlocks::closed && !free_blocks.blocks.empty()) {
    void* block = free_blocks.blocks.back();
    free_blocks.blocks.pop_back();
    return block;
  }
  void* memory = std::malloc(sizeof(Block) + capacity);
  if (memory == nullptr) throw std::bad_alloc();  // our fault is a crash: nobody catches this
  return memory;
}

}  // namespace

Block* Block::make(std::size_t capacity) { return new (allocate(capacity)) Block(capacity); }

void Block::destroy(Block* block) {
  if (keep_blocks && block->capacity_ == block_bytes && !FreeBlocks::closed &&
      free_blocks.blocks.size() < kept_blocks) {
    free_blocks.blocks.push_back(block);
  } else {
    std::free(block);
  }
}

Slice Slice::copy(std::string_view text) {
  if (text.empty()) return {};
  Block* block = Block::make(text.size());
  std::memcpy(block->bytes(), text.data(), text.size());
  return Slice(block, {block->bytes(), text.size()});
}

void Buffer::reserve(std::size_t more) {
  if (room_bytes() >= more && block_ != nullptr) return;
  const std::size_t held = size();
  Block* larger = Block::make(std::max(held + more, held * 2));
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
