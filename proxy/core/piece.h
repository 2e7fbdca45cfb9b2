// Piece: one movable part of a body, however it is stored; Flow: what a pull or a read came to.
//
// Pieces are moved, never copied byte by byte: a Slice is counted, a FileRange goes out by
// sendfile, a PipeRange by splice. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <variant>

#include "proxy/core/bytes.h"
#include "proxy/core/fd.h"

namespace portico::core {

/// What asking for bytes came to.
enum class Flow : std::uint8_t {
  data,  ///< here are some
  wait,  ///< none yet: whoever asked is woken once
  end,   ///< there are no more
  fail,  ///< there is an Error
};

/// `length` bytes of a regular file from `offset`; sent by sendfile.
struct FileRange {
  std::shared_ptr<Fd> file;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
};

/// A kernel pipe for splice. `held` counts the bytes in it.
struct Pipe {
  Fd read_end;
  Fd write_end;
  std::size_t held = 0;
};

/// Gives a pipe back to its thread's store when it is empty, else closes it.
struct PipeReturn {
  void operator()(Pipe* pipe) const;
};
using PipeLease = std::unique_ptr<Pipe, PipeReturn>;

/// A pipe from the thread's store, or a new one; null when the thread has its share of them, or
/// there are no descriptors.
PipeLease lease_pipe();

/// All `pipe->held` bytes that were spliced into a pipe; sent by splice.
struct PipeRange {
  PipeLease pipe;
};

using Piece = std::variant<Slice, FileRange, PipeRange>;

std::uint64_t length(const Piece& piece);

}  // namespace portico::core
