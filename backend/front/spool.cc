#include "backend/front/spool.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>

namespace portico::backend {
namespace {

using core::Error;
using core::Fault;
using core::Fd;
using core::Result;

constexpr std::string_view storing = "storing a body";

Error full(int os) { return Error{Fault::spool_full, os, storing}; }

// Where the file system has no O_TMPFILE, a file is made and unlinked at once.
Fd make_and_unlink(const std::string& directory) {
  std::string name = directory + "/portico-XXXXXX";
  Fd fd(::mkostemp(name.data(), O_CLOEXEC));
  if (fd) ::unlink(name.c_str());
  return fd;
}

Fd open_unlinked(const std::string& directory) {
  Fd fd(::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (fd || (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT)) return fd;
  return make_and_unlink(directory);
}

}  // namespace

bool Spool::take(std::atomic<std::uint64_t>& counter, std::uint64_t bytes, std::uint64_t limit) {
  const std::uint64_t before = counter.fetch_add(bytes);
  if (before + bytes <= limit) return true;
  counter -= bytes;
  return false;
}

SpoolFile::SpoolFile(Spool& spool, Fd fd, Place place)
    : spool_(spool), fd_(std::make_shared<Fd>(std::move(fd))), place_(place) {}

SpoolFile::~SpoolFile() {
  if (place_ == Place::disk) spool_.give_file(taken_);
  if (place_ == Place::memory) spool_.give_memory(taken_);
}

Result<std::unique_ptr<SpoolFile>> SpoolFile::open(Spool& spool, Place place) {
  Fd fd = place == Place::memory ? Fd(::memfd_create("portico-body", MFD_CLOEXEC))
                                 : open_unlinked(spool.options().directory);
  if (!fd) return full(errno);
  return std::unique_ptr<SpoolFile>(new SpoolFile(spool, std::move(fd), place));
}

bool SpoolFile::take_room(std::uint64_t bytes) {
  const bool taken = place_ == Place::disk ? spool_.take_file(bytes) : spool_.take_memory(bytes);
  if (taken) taken_ += bytes;
  return taken;
}

Result<void> SpoolFile::append(const core::Piece& piece) {
  if (const auto* slice = std::get_if<core::Slice>(&piece)) return append(slice->view());
  if (const auto* pipe = std::get_if<core::PipeRange>(&piece)) return append_pipe(*pipe->pipe);
  return append_range(std::get<core::FileRange>(piece));
}

Result<void> SpoolFile::append(std::string_view bytes) {
  if (!take_room(bytes.size())) return full(EDQUOT);
  while (!bytes.empty()) {
    const ssize_t written =
        ::pwrite(fd_->get(), bytes.data(), bytes.size(), static_cast<off_t>(size_));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return full(errno);
    bytes.remove_prefix(static_cast<std::size_t>(written));
    size_ += static_cast<std::uint64_t>(written);
  }
  return {};
}

Result<void> SpoolFile::append_pipe(core::Pipe& pipe) {
  if (!take_room(pipe.held)) return full(EDQUOT);
  while (pipe.held != 0) {
    auto at = static_cast<off64_t>(size_);
    const ssize_t moved = ::splice(pipe.read_end.get(), nullptr, fd_->get(), &at, pipe.held, 0);
    if (moved < 0 && errno == EINTR) continue;
    if (moved <= 0) return full(errno);
    pipe.held -= static_cast<std::size_t>(moved);
    size_ += static_cast<std::uint64_t>(moved);
  }
  return {};
}

Result<void> SpoolFile::append_range(const core::FileRange& range) {
  std::array<char, 16 * 1024> buffer;
  for (std::uint64_t done = 0; done < range.length;) {
    const auto most = std::min<std::uint64_t>(buffer.size(), range.length - done);
    const ssize_t got =
        ::pread(range.file->get(), buffer.data(), most, static_cast<off_t>(range.offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return Error{Fault::response_cut, errno, "reading a file"};
    if (auto put = append({buffer.data(), static_cast<std::size_t>(got)}); !put) return put;
    done += static_cast<std::uint64_t>(got);
  }
  return {};
}

Result<Fd> SpoolFile::read_only() const {
  const std::string path = "/proc/self/fd/" + std::to_string(fd_->get());
  Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return full(errno);
  return fd;
}

}  // namespace portico::backend
