// Channels: the queue, the sealed cells, the streams of a worker; the engine's sealed copy.
#include "backend/host/channels.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cerrno>

using namespace portico;
using backend::Channels;
using record::CellState;

namespace {

Channels make(unsigned front_threads) {
  auto made = Channels::make(front_threads);
  REQUIRE(made);
  return std::move(*made);
}

int seals(const core::Fd& fd) { return ::fcntl(fd.get(), F_GET_SEALS); }

/// As the front sees the cells.
struct View {
  explicit View(const Channels& channels) {
    struct stat facts {};
    REQUIRE(::fstat(channels.cells.get(), &facts) == 0);
    bytes = static_cast<std::size_t>(facts.st_size);
    memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, channels.cells.get(), 0);
    cells = record::Cells(memory, bytes);
  }
  View(const View&) = delete;
  View& operator=(const View&) = delete;
  ~View() { ::munmap(memory, bytes); }

  std::size_t bytes = 0;
  void* memory = nullptr;
  record::Cells cells;
};

}  // namespace

TEST_CASE("channels: datagrams go from the front's end of the queue to the workers'") {
  const Channels channels = make(1);
  CHECK(::send(channels.front_queue.get(), "one", 3, 0) == 3);
  CHECK(::send(channels.front_queue.get(), "two", 3, 0) == 3);
  char room[16];
  CHECK(::recv(channels.worker_queue.get(), room, sizeof room, 0) == 3);
}

TEST_CASE("channels: every front thread has its cells, which nobody can cut off") {
  const Channels channels = make(3);
  const View view(channels);
  CHECK(view.cells.count() == 3 * backend::cells_per_thread);
  CHECK((seals(channels.cells) & (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)) ==
        (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL));
  CHECK(::ftruncate(channels.cells.get(), 0) == -1);
  CHECK(errno == EPERM);
}

TEST_CASE("channels: what a front that is gone had sent and nobody begun is taken back") {
  Channels channels = make(1);
  View view(channels);
  view.cells.send(1, 10);
  view.cells.send(2, 20);
  CHECK(view.cells.claim(2, 20, 5, 0, 1));
  view.cells.send(3, 30);
  CHECK(view.cells.claim(3, 30, 5, 0, 1));
  view.cells.finish(3, 30);
  channels.revoke_all();
  CHECK(view.cells.look(0).state == CellState::idle);
  CHECK(view.cells.look(1).state == CellState::revoked);
  CHECK(view.cells.look(2).state == CellState::claimed);
  CHECK(view.cells.look(3).state == CellState::done);
  CHECK_FALSE(view.cells.claim(1, 10, 5, 0, 1));
}

TEST_CASE("channels: may be moved about") {
  Channels first = make(1);
  Channels second = std::move(first);
  first = make(2);
  second = std::move(first);
  const View view(second);
  CHECK(view.cells.count() == 2 * backend::cells_per_thread);
  second.revoke_all();
}

TEST_CASE("channels: a worker has a stream for each of its threads and each front thread") {
  auto ends = backend::make_worker_ends(2, 3);
  REQUIRE(ends);
  REQUIRE(ends->front.size() == 6);
  REQUIRE(ends->worker.size() == 6);
  for (std::size_t i = 0; i < 6; ++i) {
    CHECK((::fcntl(ends->front[i].get(), F_GETFL) & O_NONBLOCK) != 0);
    CHECK((::fcntl(ends->worker[i].get(), F_GETFL) & O_NONBLOCK) == 0);
    CHECK((::fcntl(ends->worker[i].get(), F_GETFD) & FD_CLOEXEC) != 0);
    const char byte = static_cast<char>(i);
    CHECK(::send(ends->worker[i].get(), &byte, 1, 0) == 1);
    char got = -1;
    CHECK(::recv(ends->front[i].get(), &got, 1, 0) == 1);
    CHECK(got == byte);
  }
  CHECK(::send(ends->our_control.get(), "stop", 4, 0) == 4);
}

TEST_CASE("sealed copy: the same bytes, and nobody can change them") {
  auto copy = backend::sealed_copy("test", "engine");
  REQUIRE(copy);
  char room[16];
  CHECK(::pread(copy->get(), room, sizeof room, 0) == 6);
  CHECK(std::string_view(room, 6) == "engine");
  CHECK(::pwrite(copy->get(), "x", 1, 0) == -1);
  CHECK(errno == EPERM);
}
