#include "proxy/process/output.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace portico::process {
namespace {

// A pipe holds 64 KiB (pipe(7)): four reads a turn empty it, and one noisy child does not starve
// the others.
constexpr std::size_t read_bytes = 16 * 1024;
constexpr int reads_a_turn = 4;

}  // namespace

core::Result<Output::Ends> Output::pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return core::Error{core::Fault::no_descriptors, errno, "making a pipe for a child's output"};
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  return Ends{core::Fd(ends[0]), core::Fd(ends[1])};
}

Output::Output(core::Active& owner, core::Fd pipe, Lines::Sink sink, LineRules rules)
    : Active(owner.loop()),
      owner_(owner),
      pipe_(std::move(pipe)),
      watch_(owner.loop(), *this),
      lines_(rules, std::move(sink)) {
  watch_.open(pipe_.get());
  watch_.want(core::readable);
}

Output::~Output() {
  watch_.close();
  if (pipe_) lines_.end();
}

void Output::on_ready(int) noexcept { wake(); }

void Output::advance() {
  std::array<char, read_bytes> room;
  for (int i = 0; i < reads_a_turn && pipe_; ++i) {
    const ssize_t got = ::read(pipe_.get(), room.data(), room.size());
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;  // level-triggered: we come again
    if (got <= 0) return finish();
    lines_.feed({room.data(), static_cast<std::size_t>(got)}, loop().now());
  }
}

void Output::finish() {
  watch_.close();
  pipe_.reset();
  lines_.end();
  owner_.wake();
}

}  // namespace portico::process
