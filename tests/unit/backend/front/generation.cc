// Generation: only cells that cannot shrink under us are mapped.
#include "backend/front/generation.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "tests/support/sockets.h"

using namespace portico;
using backend::Generation;

namespace {

core::Fd cells(std::size_t count, int seals) {
  core::Fd fd(::memfd_create("cells", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  REQUIRE(::ftruncate(fd.get(), static_cast<off_t>(record::Cells::bytes_for(count))) == 0);
  if (seals != 0) REQUIRE(::fcntl(fd.get(), F_ADD_SEALS, seals) == 0);
  return fd;
}

auto open(core::Fd fd, unsigned threads = 2) {
  return Generation::open(7, std::move(tests::unix_pair().first), std::move(fd), threads);
}

}  // namespace

TEST_CASE("generation: each front thread has an equal range of the cells") {
  auto opened = open(cells(9, F_SEAL_SHRINK));
  REQUIRE(opened);
  CHECK((*opened)->number() == 7);
  CHECK((*opened)->cells().count() == 9);
  CHECK((*opened)->cells_per_thread() == 4);
}

TEST_CASE("generation: memory that its giver could cut off is refused") {
  CHECK_FALSE(open(cells(8, 0)));
  CHECK_FALSE(open(cells(8, F_SEAL_GROW)));
}

TEST_CASE("generation: fewer cells than threads, or what is no such memory, is refused") {
  CHECK_FALSE(open(cells(1, F_SEAL_SHRINK)));
  CHECK_FALSE(open(cells(0, F_SEAL_SHRINK)));
  CHECK_FALSE(open(cells(8, F_SEAL_SHRINK), 0));
  CHECK_FALSE(open(core::Fd(::open("/dev/null", O_RDWR | O_CLOEXEC))));
  CHECK_FALSE(open(core::Fd()));
}
