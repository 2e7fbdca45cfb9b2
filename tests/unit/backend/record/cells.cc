// Claim cells: the rules of backend/record/README.md, "Claim cells".
#include "backend/record/cells.h"

#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <thread>
#include <vector>

using portico::record::Cell;
using portico::record::Cells;
using portico::record::CellState;

namespace {

struct Memory {
  std::array<Cell, 4> cells{};
  Cells view() { return Cells(cells.data(), sizeof cells); }
};

}  // namespace

TEST_CASE("cells: fresh memory is idle and cannot be claimed") {
  Memory memory;
  Cells cells = memory.view();
  CHECK(cells.count() == 4);
  CHECK(cells.look(2).state == CellState::idle);
  CHECK_FALSE(cells.claim(2, 0, 1, 0, 5));
}

TEST_CASE("cells: a claim carries its claimer's name and time") {
  Memory memory;
  Cells cells = memory.view();
  cells.send(1, 7);
  CHECK(cells.look(1).state == CellState::sent);
  REQUIRE(cells.claim(1, 7, 65535, 255, 123456789));
  auto status = cells.look(1);
  CHECK(status.state == CellState::claimed);
  CHECK(status.serial == 7);
  CHECK(status.worker == 65535);
  CHECK(status.thread == 255);
  CHECK(status.claimed_ns == 123456789);
  CHECK(cells.look(0).state == CellState::idle);
}

TEST_CASE("cells: a record is claimed once") {
  Memory memory;
  Cells cells = memory.view();
  cells.send(0, 1);
  CHECK(cells.claim(0, 1, 1, 0, 1));
  CHECK_FALSE(cells.claim(0, 1, 2, 0, 2));
  CHECK(cells.look(0).worker == 1);
}

TEST_CASE("cells: a stale record can never claim a reused cell") {
  Memory memory;
  Cells cells = memory.view();
  cells.send(0, 1);
  REQUIRE(cells.revoke(0, 1));
  cells.send(0, 2);
  CHECK_FALSE(cells.claim(0, 1, 1, 0, 1));
  CHECK(cells.claim(0, 2, 1, 0, 1));
}

TEST_CASE("cells: what was revoked is not claimed, what was claimed is not revoked") {
  Memory memory;
  Cells cells = memory.view();
  cells.send(0, 1);
  CHECK(cells.revoke(0, 1));
  CHECK_FALSE(cells.claim(0, 1, 1, 0, 1));
  cells.send(1, 1);
  CHECK(cells.claim(1, 1, 1, 0, 1));
  CHECK_FALSE(cells.revoke(1, 1));
}

TEST_CASE("cells: only a running record is cancelled, and cancelled is no longer wanted") {
  Memory memory;
  Cells cells = memory.view();
  cells.send(0, 1);
  CHECK_FALSE(cells.cancel(0, 1));
  cells.claim(0, 1, 3, 0, 1);
  CHECK(cells.wanted(0, 1));
  CHECK_FALSE(cells.cancel(0, 2));
  CHECK(cells.cancel(0, 1));
  CHECK_FALSE(cells.wanted(0, 1));
  cells.finish(0, 1);
  CHECK(cells.look(0).state == CellState::done);
  CHECK(cells.look(0).worker == 3);
  CHECK_FALSE(cells.cancel(0, 1));
}

TEST_CASE("cells: finishing an earlier use leaves the present one alone") {
  Memory memory;
  Cells cells = memory.view();
  cells.send(0, 2);
  cells.claim(0, 2, 1, 0, 1);
  cells.finish(0, 1);
  CHECK(cells.look(0).state == CellState::claimed);
}

TEST_CASE("cells: serials may wrap around") {
  Memory memory;
  Cells cells = memory.view();
  cells.send(0, 0xffffffff);
  CHECK(cells.claim(0, 0xffffffff, 1, 0, 1));
  cells.finish(0, 0xffffffff);
  cells.send(0, 0);
  CHECK_FALSE(cells.claim(0, 0xffffffff, 1, 0, 1));
  CHECK(cells.claim(0, 0, 1, 0, 1));
}

TEST_CASE("cells: of a revoker and claimers at the same time exactly one wins") {
  Memory memory;
  Cells cells = memory.view();
  for (std::uint32_t serial = 1; serial <= 2000; ++serial) {
    cells.send(0, serial);
    std::atomic<int> winners{0};
    std::atomic<int> ready{0};
    auto race = [&](auto action) {
      ++ready;
      while (ready < 3) std::this_thread::yield();
      if (action()) ++winners;
    };
    std::thread first([&] { race([&] { return cells.claim(0, serial, 1, 0, 1); }); });
    std::thread second([&] { race([&] { return cells.claim(0, serial, 2, 0, 1); }); });
    race([&] { return cells.revoke(0, serial); });
    first.join();
    second.join();
    REQUIRE(winners == 1);
  }
}
