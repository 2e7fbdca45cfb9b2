#include "proxy/net/read_arena.h"

#include <algorithm>

namespace portico::net {
namespace {

// With less than this left in the shared block a new one is taken: most heads fit.
constexpr std::size_t least_room = core::block_bytes / 4;

}  // namespace

ReadArena& ReadArena::here() {
  thread_local ReadArena arena;
  return arena;
}

ReadArena::~ReadArena() {
  if (shared_ != nullptr) shared_->release();
  if (large_ != nullptr) large_->release();
}

void ReadArena::renew(core::Block*& block, std::size_t capacity) {
  if (block != nullptr) block->release();
  block = core::Block::make(capacity);
}

ReadArena::Room ReadArena::offer(std::size_t wanted) {
  offered_large_ = wanted > core::block_bytes;
  if (offered_large_) {
    const std::size_t size = std::min(wanted, largest_read);
    if (large_ == nullptr) renew(large_, largest_read);
    return {large_->bytes(), size};
  }
  const std::size_t left = shared_ == nullptr ? 0 : core::block_bytes - used_;
  if (left < std::min(wanted, least_room)) {
    renew(shared_, core::block_bytes);
    used_ = 0;
  }
  return {shared_->bytes() + used_, std::min(wanted, core::block_bytes - used_)};
}

core::Slice ReadArena::take(std::size_t count) {
  if (!offered_large_) {
    core::Slice slice = core::Slice::within(*shared_, {shared_->bytes() + used_, count});
    used_ += count;
    return slice;
  }
  const std::string_view bytes(large_->bytes(), count);
  if (count < largest_read / 4) return core::Slice::copy(bytes);
  core::Slice slice = core::Slice::within(*large_, bytes);
  large_->release();
  large_ = nullptr;
  return slice;
}

}  // namespace portico::net
