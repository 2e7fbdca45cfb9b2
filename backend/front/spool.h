// Spool: where bodies lie that are too large for memory: unlinked files in one directory, with a
// quota.
//
// One Spool for the front process, shared by its threads (the counters are atomic); a SpoolFile
// belongs to one body and one thread. Request bodies that find no room are answered 507; answers
// then wait.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string_view>

#include "conf/config.h"
#include "proxy/core/fd.h"
#include "proxy/core/piece.h"
#include "proxy/core/result.h"

namespace portico::backend {

class Spool {
 public:
  explicit Spool(conf::Spool options) : options_(std::move(options)) {}

  const conf::Spool& options() const { return options_; }
  /// Takes bytes out of the quota of files, or of the budget of memory; false: there are not so
  /// many.
  bool take_file(std::uint64_t bytes) { return take(file_bytes_, bytes, options_.quota); }
  bool take_memory(std::uint64_t bytes) { return take(memory_bytes_, bytes, options_.memory); }
  void give_file(std::uint64_t bytes) { file_bytes_ -= bytes; }
  void give_memory(std::uint64_t bytes) { memory_bytes_ -= bytes; }
  std::uint64_t file_bytes() const { return file_bytes_; }
  std::uint64_t memory_bytes() const { return memory_bytes_; }

 private:
  static bool take(std::atomic<std::uint64_t>& counter, std::uint64_t bytes, std::uint64_t limit);

  conf::Spool options_;
  std::atomic<std::uint64_t> file_bytes_ = 0;
  std::atomic<std::uint64_t> memory_bytes_ = 0;
};

/// A budget of memory held for one body; gives back what it holds when it ends.
class MemoryShare {
 public:
  explicit MemoryShare(Spool& spool) : spool_(spool) {}
  MemoryShare(const MemoryShare&) = delete;
  MemoryShare& operator=(const MemoryShare&) = delete;
  ~MemoryShare() { give(bytes_); }

  bool take(std::uint64_t bytes) {
    if (!spool_.take_memory(bytes)) return false;
    bytes_ += bytes;
    return true;
  }
  void give(std::uint64_t bytes) {
    spool_.give_memory(bytes);
    bytes_ -= bytes;
  }
  std::uint64_t held() const { return bytes_; }

 private:
  Spool& spool_;
  std::uint64_t bytes_ = 0;
};

/// An unlinked file that grows at its end. What it takes of the quota is given back when the last
/// holder of its descriptor has closed it: only then has the disk its room again.
class SpoolFile {
 public:
  enum class Place { memory, disk };  ///< memory: a memfd, for what must only be a descriptor

  /// Fault::spool_full when the directory takes no file.
  static core::Result<std::unique_ptr<SpoolFile>> open(Spool& spool, Place place);
  SpoolFile(const SpoolFile&) = delete;
  SpoolFile& operator=(const SpoolFile&) = delete;

  /// Writes behind what is there. Fault::spool_full when quota (EDQUOT: then nothing was written)
  /// or disk are used up.
  core::Result<void> append(const core::Piece& piece);
  core::Result<void> append(std::string_view bytes);

  std::uint64_t size() const { return size_; }
  const std::shared_ptr<core::Fd>& descriptor() const { return fd_; }
  Place place() const { return store_->place; }
  /// A descriptor of the same file that cannot be written through, for a worker.
  core::Result<core::Fd> read_only() const;

 private:
  /// The file with what it has taken; ends with the last descriptor().
  struct Store {
    Store(Spool& of, core::Fd file, Place where) : spool(of), fd(std::move(file)), place(where) {}
    Store(const Store&) = delete;
    Store& operator=(const Store&) = delete;
    ~Store() { give(taken); }

    bool take(std::uint64_t bytes);
    void give(std::uint64_t bytes);

    Spool& spool;
    core::Fd fd;
    Place place;
    std::uint64_t taken = 0;
  };

  explicit SpoolFile(std::shared_ptr<Store> store);
  core::Error refused(std::uint64_t bytes, int os);
  core::Result<void> write(std::string_view bytes, std::uint64_t& left);
  core::Result<void> append_pipe(core::Pipe& pipe);
  core::Result<void> append_range(const core::FileRange& range);

  std::shared_ptr<Store> store_;
  std::shared_ptr<core::Fd> fd_;  // store_->fd, and keeps the store
  std::uint64_t size_ = 0;
};

}  // namespace portico::backend
