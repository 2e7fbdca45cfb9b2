#include "proxy/core/piece.h"

#include <fcntl.h>

#include <vector>

namespace portico::core {
namespace {

// Pipes kept by a thread, and pipes that it has in all: two descriptors each, and as much of the
// kernel's memory as they hold, so few. Whoever gets none reads into blocks instead.
constexpr std::size_t kept_pipes = 16;
constexpr std::size_t most_pipes = 128;
// One pipe's capacity: moves 256 KiB a call; the unprivileged default maximum is 1 MiB.
constexpr int pipe_bytes = 256 * 1024;

thread_local std::size_t pipes_made = 0;  // and not yet closed
thread_local std::vector<std::unique_ptr<Pipe>> free_pipes;

struct Length {
  std::uint64_t operator()(const Slice& slice) const { return slice.size(); }
  std::uint64_t operator()(const FileRange& range) const { return range.length; }
  std::uint64_t operator()(const PipeRange& range) const { return range.pipe->held; }
};

}  // namespace

void PipeReturn::operator()(Pipe* pipe) const {
  std::unique_ptr<Pipe> owned(pipe);
  if (owned->held == 0 && free_pipes.size() < kept_pipes) {
    free_pipes.push_back(std::move(owned));
  } else {
    --pipes_made;
  }
}

PipeLease lease_pipe() {
  if (!free_pipes.empty()) {
    PipeLease pipe(free_pipes.back().release());
    free_pipes.pop_back();
    return pipe;
  }
  int ends[2];
  if (pipes_made >= most_pipes || ::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return nullptr;
  ++pipes_made;
  ::fcntl(ends[1], F_SETPIPE_SZ,
          pipe_bytes);  // refused when the user's quota is used up: 64 KiB then
  return PipeLease(new Pipe{Fd(ends[0]), Fd(ends[1]), 0});
}

std::uint64_t length(const Piece& piece) { return std::visit(Length{}, piece); }

}  // namespace portico::core
