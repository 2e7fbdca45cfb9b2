// Spool, SpoolFile, MemoryShare: quotas that are exact, full disks, files without a name.
#include "backend/front/spool.h"

#include <sys/resource.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <csignal>
#include <filesystem>

#include "tests/support/pieces.h"
#include "tests/support/sockets.h"

using namespace portico;
using namespace portico::tests;
using backend::MemoryShare;
using backend::Spool;
using backend::SpoolFile;
using Place = backend::SpoolFile::Place;

namespace {

conf::Spool options(const ScratchDirectory& folder, std::uint64_t quota = 1000,
                    std::uint64_t memory = 100) {
  conf::Spool spool;
  spool.directory = folder.file("");
  spool.quota = quota;
  spool.memory = memory;
  return spool;
}

std::unique_ptr<SpoolFile> open(Spool& spool, Place place = Place::disk) {
  auto opened = SpoolFile::open(spool, place);
  REQUIRE(opened);
  return std::move(*opened);
}

std::string content(const SpoolFile& file) {
  return read_file(file.descriptor()->get(), 0, file.size());
}

// A disk that takes no more than so many bytes of a file.
class SmallDisk {
 public:
  explicit SmallDisk(rlim_t bytes) {
    before_ = std::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &limit_);
    const rlimit small{bytes, limit_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &small);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  ~SmallDisk() {
    ::setrlimit(RLIMIT_FSIZE, &limit_);
    std::signal(SIGXFSZ, before_);
  }

 private:
  rlimit limit_{};
  void (*before_)(int) = nullptr;
};

}  // namespace

TEST_CASE("spool: a budget gives as much as there is, to the byte") {
  ScratchDirectory folder;
  Spool spool(options(folder));
  CHECK(spool.take_memory(60));
  CHECK_FALSE(spool.take_memory(41));
  CHECK(spool.take_memory(40));
  CHECK_FALSE(spool.take_memory(1));
  CHECK(spool.take_memory(0));
  CHECK_FALSE(spool.take_file(UINT64_MAX));
  spool.give_memory(100);
  CHECK(spool.memory_bytes() == 0);
}

TEST_CASE("spool: a share of memory gives back what it holds when it ends") {
  ScratchDirectory folder;
  Spool spool(options(folder));
  {
    MemoryShare share(spool);
    CHECK(share.take(70));
    CHECK_FALSE(share.take(31));
    share.give(20);
    CHECK(share.held() == 50);
    CHECK(spool.memory_bytes() == 50);
  }
  CHECK(spool.memory_bytes() == 0);
}

TEST_CASE("spool: a file keeps pieces of all kinds in their order") {
  ScratchDirectory folder;
  Spool spool(options(folder, 1 << 20));
  auto file = open(spool);
  CHECK(file->append(slice_of("one ")));
  CHECK(file->append(pipe_of("two ")));
  const std::string three = pattern(50'000);
  CHECK(file->append(range_of(three)));
  CHECK(file->size() == 50'008);
  CHECK(content(*file) == "one two " + three);
  CHECK(spool.file_bytes() == 50'008);
}

TEST_CASE("spool: a file has no name, and a worker's descriptor of it cannot write") {
  ScratchDirectory folder;
  Spool spool(options(folder));
  const Place place = GENERATE(Place::disk, Place::memory);
  auto file = open(spool, place);
  CHECK(file->append("body"));
  CHECK(std::filesystem::is_empty(folder.file("")));
  auto reader = file->read_only();
  REQUIRE(reader);
  CHECK(read_file(reader->get(), 0, 4) == "body");
  CHECK(::pwrite(reader->get(), "x", 1, 0) == -1);
  CHECK(errno == EBADF);
}

TEST_CASE("spool: beyond the quota nothing is written, and nothing stays taken") {
  ScratchDirectory folder;
  Spool spool(options(folder, 10));
  auto file = open(spool);
  CHECK(file->append("123456"));
  for (const core::Piece& piece : {slice_of("789ab"), range_of("789ab")}) {
    const auto refused = file->append(piece);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().fault == core::Fault::spool_full);
    CHECK(refused.error().os == EDQUOT);
  }
  CHECK_FALSE(file->append(pipe_of("789ab")));
  CHECK(file->size() == 6);
  CHECK(spool.file_bytes() == 6);
  CHECK(file->append("789a"));
}

TEST_CASE("spool: a full disk is told, and only what lies there stays taken") {
  ScratchDirectory folder;
  Spool spool(options(folder, 1 << 20));
  auto file = open(spool);
  const SmallDisk disk(1000);
  CHECK(file->append(pattern(600)));
  core::Piece piece = GENERATE(0, 1, 2) == 0 ? slice_of(pattern(600)) : range_of(pattern(600));
  const auto refused = file->append(piece);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().fault == core::Fault::spool_full);
  CHECK(spool.file_bytes() == file->size());
  CHECK(file->size() <= 1000);
  CHECK_FALSE(file->append(pipe_of(pattern(600))));
  CHECK(spool.file_bytes() == file->size());
}

TEST_CASE("spool: the quota has its bytes again when the last descriptor is closed") {
  ScratchDirectory folder;
  Spool spool(options(folder));
  auto file = open(spool);
  CHECK(file->append("body"));
  std::shared_ptr<core::Fd> sent = file->descriptor();  // as a session holds it
  file.reset();
  CHECK(spool.file_bytes() == 4);
  CHECK(read_file(sent->get(), 0, 4) == "body");
  sent.reset();
  CHECK(spool.file_bytes() == 0);
}

TEST_CASE("spool: files in memory are of the memory's budget") {
  ScratchDirectory folder;
  Spool spool(options(folder));
  auto file = open(spool, Place::memory);
  CHECK(file->append(pattern(100)));
  CHECK_FALSE(file->append("x"));
  CHECK(spool.memory_bytes() == 100);
  file.reset();
  CHECK(spool.memory_bytes() == 0);
  CHECK(spool.file_bytes() == 0);
}

TEST_CASE("spool: a directory that is not there takes no file") {
  conf::Spool nowhere;
  nowhere.directory = "/nonexistent/portico";
  Spool spool(nowhere);
  const auto refused = SpoolFile::open(spool, Place::disk);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().fault == core::Fault::spool_full);
}
