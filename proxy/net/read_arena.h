// ReadArena: where a thread's sockets read into. Small reads of many connections share one block,
// large ones get blocks of their own, and an idle connection owns none.
//
// One per thread (ReadArena::here()); used by SocketTransport.
#pragma once

#include <cstddef>

#include "proxy/core/bytes.h"

namespace portico::net {

class ReadArena {
 public:
  /// The largest read: 128 KiB a call was where larger stopped paying on loopback.
  static constexpr std::size_t largest_read = core::large_block_bytes;

  static ReadArena& here();  ///< this thread's

  ReadArena() = default;
  ReadArena(const ReadArena&) = delete;
  ReadArena& operator=(const ReadArena&) = delete;
  ~ReadArena();

  /// Room for a read of about `wanted` bytes: never more, at least a quarter of it.
  struct Room {
    char* bytes;
    std::size_t size;
  };
  Room offer(std::size_t wanted);
  /// The first `count` bytes of the last offer, as a slice. Few bytes in a large block are copied,
  /// so that a slice never holds more than four times its size, or one ordinary block.
  core::Slice take(std::size_t count);

 private:
  void renew(core::Block*& block, std::size_t capacity);

  core::Block* shared_ = nullptr;  // of core::block_bytes, carved
  std::size_t used_ = 0;           // of shared_
  core::Block* large_ = nullptr;   // kept until a read has filled a quarter of it
  bool offered_large_ = false;
};

}  // namespace portico::net
