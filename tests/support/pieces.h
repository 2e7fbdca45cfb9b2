// Pieces for tests of bodies: made of text in each of the three kinds, read back as text, and a
// source that hands out a script of them.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <deque>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "proxy/core/piece.h"
#include "proxy/http/body.h"

namespace portico::tests {

/// `size` bytes that differ from place to place.
inline std::string pattern(std::size_t size, unsigned seed = 1) {
  std::string text(size, '\0');
  unsigned state = seed;
  for (char& byte : text) {
    state = state * 1664525u + 1013904223u;
    byte = static_cast<char>(state >> 24);
  }
  return text;
}

inline core::Piece slice_of(std::string_view text) { return core::Slice::copy(text); }

/// As large as a pipe takes at once (64 KiB) at most.
inline core::Piece pipe_of(std::string_view text) {
  core::PipeLease pipe = core::lease_pipe();
  const ssize_t written = ::write(pipe->write_end.get(), text.data(), text.size());
  if (written != static_cast<ssize_t>(text.size())) throw std::runtime_error("pipe");
  pipe->held = text.size();
  return core::PipeRange{std::move(pipe)};
}

inline core::Piece range_of(std::string_view text) {
  auto file = std::make_shared<core::Fd>(::memfd_create("test", MFD_CLOEXEC));
  const ssize_t written = ::pwrite(file->get(), text.data(), text.size(), 7);
  if (written != static_cast<ssize_t>(text.size())) throw std::runtime_error("memfd");
  return core::FileRange{std::move(file), 7, text.size()};
}

inline std::string read_file(int fd, std::uint64_t offset, std::uint64_t length) {
  std::string text(length, '\0');
  const ssize_t got = ::pread(fd, text.data(), length, static_cast<off_t>(offset));
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return text;
}

/// The bytes of a slice or a file range.
inline std::string text_of(const core::Piece& piece) {
  if (const auto* slice = std::get_if<core::Slice>(&piece)) return std::string(slice->view());
  const auto& range = std::get<core::FileRange>(piece);
  return read_file(range.file->get(), range.offset, range.length);
}

/// A body that comes as the test says; an empty script means wait, until it ends or fails.
class ScriptedBody final : public http::BodySource {
 public:
  void add(core::Piece piece) {
    pieces_.push_back(std::move(piece));
    reader_.fire();
  }
  void finish(core::Flow ending, core::Error error = {}) {
    ending_ = ending;
    error_ = error;
    reader_.fire();
  }
  http::Pull pull(std::size_t, core::Active& reader) override {
    http::Pull pull;
    pull.flow = pieces_.empty() ? ending_ : core::Flow::data;
    pull.error = error_;
    if (pull.flow == core::Flow::wait) reader_.aim(reader);
    if (pull.flow != core::Flow::data) return pull;
    pull.piece = std::move(pieces_.front());
    pieces_.pop_front();
    return pull;
  }

 private:
  std::deque<core::Piece> pieces_;
  core::Flow ending_ = core::Flow::wait;
  core::Error error_;
  core::Wakeup reader_;
};

}  // namespace portico::tests
