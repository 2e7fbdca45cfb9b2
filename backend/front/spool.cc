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
  std::uint64_t used = counter;
  while (used <= limit && bytes <= limit - used) {
    if (counter.compare_exchange_weak(used, used + bytes)) return true;
  }
  return false;
}

bool SpoolFile::Store::take(std::uint64_t bytes) {
  const bool got = place == Place::disk ? spool.take_file(bytes) : spool.take_memory(bytes);
  if (got) taken += bytes;
  return got;
}

void SpoolFile::Store::give(std::uint64_t bytes) {
  place == Place::disk ? spool.give_file(bytes) : spool.give_memory(bytes);
  taken -= bytes;
}

SpoolFile::SpoolFile(std::shared_ptr<Store> store)
    : store_(std::move(store)), fd_(store_, &store_->fd) {}

Result<std::unique_ptr<SpoolFile>> SpoolFile::open(Spool& spool, Place place) {
  Fd fd = place == Place::memory ? Fd(::memfd_create("portico-body", MFD_CLOEXEC))
                                 : open_unlinked(spool.options().directory);
  if (!fd) return full(errno);
  return std::unique_ptr<SpoolFile>(
      new SpoolFile(std::make_shared<Store>(spool, std::move(fd), place)));
}

// What was taken for these bytes and not written is given back.
Error SpoolFile::refused(std::uint64_t bytes, int os) {
  store_->give(bytes);
  return full(os);
}

Result<void> SpoolFile::append(const core::Piece& piece) {
  if (const auto* slice = std::get_if<core::Slice>(&piece)) return append(slice->view());
  if (const auto* pipe = std::get_if<core::PipeRange>(&piece)) return append_pipe(*pipe->pipe);
  return append_range(std::get<core::FileRange>(piece));
}

Result<void> SpoolFile::append(std::string_view bytes) {
  std::uint64_t left = bytes.size();
  return store_->take(left) ? write(bytes, left) : full(EDQUOT);
}

/// left  bytes that were taken and are not yet written; given back where that fails
Result<void> SpoolFile::write(std::string_view bytes, std::uint64_t& left) {
  while (!bytes.empty()) {
    const ssize_t written =
        ::pwrite(fd_->get(), bytes.data(), bytes.size(), static_cast<off_t>(size_));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return refused(left, errno);
    bytes.remove_prefix(static_cast<std::size_t>(written));
    size_ += static_cast<std::uint64_t>(written);
    left -= static_cast<std::uint64_t>(written);
  }
  return {};
}

Result<void> SpoolFile::append_pipe(core::Pipe& pipe) {
  if (!store_->take(pipe.held)) return full(EDQUOT);
  while (pipe.held != 0) {
    auto at = static_cast<off64_t>(size_);
    const ssize_t moved = ::splice(pipe.read_end.get(), nullptr, fd_->get(), &at, pipe.held, 0);
    if (moved < 0 && errno == EINTR) continue;
    if (moved <= 0) return refused(pipe.held, errno);
    pipe.held -= static_cast<std::size_t>(moved);
    size_ += static_cast<std::uint64_t>(moved);
  }
  return {};
}

Result<void> SpoolFile::append_range(const core::FileRange& range) {
  if (!store_->take(range.length)) return full(EDQUOT);
  std::array<char, 16 * 1024> buffer;
  for (std::uint64_t left = range.length; left != 0;) {
    const std::uint64_t at = range.offset + (range.length - left);
    const auto most = std::min<std::uint64_t>(buffer.size(), left);
    const ssize_t got = ::pread(range.file->get(), buffer.data(), most, static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return refused(left, got < 0 ? errno : EIO);
    if (auto put = write({buffer.data(), static_cast<std::size_t>(got)}, left); !put) return put;
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
