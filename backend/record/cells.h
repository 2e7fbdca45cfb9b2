// Claim cells: who runs a request, decided by one compare-and-swap in shared memory.
//
// The memory is a memfd that the supervisor makes, sizes and seals against growing and shrinking;
// the supervisor, the front and every worker of the application map it. Each front thread owns a
// range of cells: only it sends, revokes and cancels there; any worker may claim and finish.
// README.md beside this file is the page of rules. The front trusts nothing it reads here: a
// hostile worker can write any cell, and harms only its own site by it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace portico::record {

/// Where a record is on its way. A cell's word holds it together with the serial, worker and
/// thread, so that a stale record can never claim a reused cell, and so that a claim is never
/// without its claimer's name.
enum class CellState : std::uint8_t {
  idle = 0,       ///< never used: the memory as the kernel gives it
  sent = 1,       ///< the front has put, or is about to put, the record into the queue
  claimed = 2,    ///< a worker runs it
  cancelled = 3,  ///< a worker runs it, and the front has no use for the answer any more
  done = 4,       ///< the worker has sent the answer's last frame
  revoked = 5,    ///< the front took it back before any worker began
};

/// What a cell says at one moment.
struct CellStatus {
  CellState state;
  std::uint32_t serial;
  std::uint16_t worker;      ///< valid when claimed, cancelled or done
  std::uint8_t thread;       ///< index of the thread within its worker; valid likewise
  std::uint64_t claimed_ns;  ///< CLOCK_MONOTONIC; 0 in the instant between the claim and its note
  std::uint32_t tid;         ///< the kernel's name of that thread, from the same note
};

/// One cache line of its own, so that two threads at two cells never disturb one another.
struct alignas(64) Cell {
  std::uint64_t word;
  std::uint64_t claimed_ns;
  std::uint32_t tid;
  std::uint32_t unused[11];
};
static_assert(sizeof(Cell) == 64);

/// A view of the mapped cells; owns nothing. Copyable. Every call is safe from any thread and never
/// blocks.
///
/// Memory order: each change of a cell's word is acq_rel, each look acquire. A record's bytes
/// travel through a socket, which orders them anyway; what the order buys is that `done` is seen
/// only after everything the worker did before, and that a front that sees `claimed` and then loses
/// the worker sees the true claimer.
class Cells {
 public:
  Cells() = default;
  Cells(void* memory, std::size_t bytes)
      : cells_(static_cast<Cell*>(memory)), count_(bytes / sizeof(Cell)) {}

  static constexpr std::size_t bytes_for(std::size_t count) { return count * sizeof(Cell); }
  std::size_t count() const { return count_; }
  bool contains(std::uint32_t cell) const { return cell < count_; }

  // The front's side. `cell` must be in the calling thread's own range.

  /// Marks the cell as sent under `serial`, before the record goes into the queue. The front counts
  /// serials in its own memory, one counter a cell; it may reuse a cell that is done, revoked, or
  /// whose worker has died.
  void send(std::uint32_t cell, std::uint32_t serial) {
    std::atomic_ref<std::uint64_t>(cells_[cell].claimed_ns).store(0, std::memory_order_relaxed);
    word(cell).store(pack(serial, 0, 0, CellState::sent), std::memory_order_release);
  }
  /// Takes a record back. True: no worker has begun it nor ever will, so any method may be sent
  /// again.
  bool revoke(std::uint32_t cell, std::uint32_t serial) {
    std::uint64_t expected = pack(serial, 0, 0, CellState::sent);
    return swap(cell, expected, pack(serial, 0, 0, CellState::revoked));
  }
  /// Tells the worker to stop at its next chunk. False: it was not running (not claimed yet, or
  /// done).
  bool cancel(std::uint32_t cell, std::uint32_t serial) {
    std::uint64_t seen = word(cell).load(std::memory_order_acquire);
    if (serial_of(seen) != serial || state_of(seen) != CellState::claimed) return false;
    return swap(cell, seen, with_state(seen, CellState::cancelled));
  }

  // The worker's side. `cell` comes from a record: check contains() first.

  /// Claims a record. False: it was revoked, or the record is stale; drop it.
  ///
  /// tid  gettid() of the calling thread, so that the stack of the right one is asked for
  bool claim(std::uint32_t cell, std::uint32_t serial, std::uint16_t worker, std::uint8_t thread,
             std::uint64_t now_ns, std::uint32_t tid = 0) {
    std::uint64_t expected = pack(serial, 0, 0, CellState::sent);
    if (!swap(cell, expected, pack(serial, worker, thread, CellState::claimed))) return false;
    std::atomic_ref<std::uint32_t>(cells_[cell].tid).store(tid, std::memory_order_relaxed);
    std::atomic_ref<std::uint64_t>(cells_[cell].claimed_ns)
        .store(now_ns, std::memory_order_release);
    return true;
  }
  /// Whether the front still wants the answer of the record that this worker has claimed.
  bool wanted(std::uint32_t cell, std::uint32_t serial) const {
    std::uint64_t seen = word(cell).load(std::memory_order_acquire);
    return serial_of(seen) == serial && state_of(seen) == CellState::claimed;
  }
  /// Marks a claimed (or cancelled) record done; called after its last frame was sent. A cell that
  /// no longer carries `serial` is left alone.
  void finish(std::uint32_t cell, std::uint32_t serial) {
    std::uint64_t seen = word(cell).load(std::memory_order_acquire);
    while (serial_of(seen) == serial && running(state_of(seen))) {
      if (swap(cell, seen, with_state(seen, CellState::done))) return;
    }
  }

  // Anybody's side.

  CellStatus look(std::uint32_t cell) const {
    std::uint64_t seen = word(cell).load(std::memory_order_acquire);
    std::uint64_t since =
        std::atomic_ref<std::uint64_t>(cells_[cell].claimed_ns).load(std::memory_order_acquire);
    std::uint32_t tid =
        std::atomic_ref<std::uint32_t>(cells_[cell].tid).load(std::memory_order_relaxed);
    return {state_of(seen),
            serial_of(seen),
            static_cast<std::uint16_t>(seen >> 16),
            static_cast<std::uint8_t>(seen >> 8),
            since,
            tid};
  }
  static bool running(CellState state) {
    return state == CellState::claimed || state == CellState::cancelled;
  }

 private:
  // serial 32 bits · worker 16 · thread 8 · state 8
  static constexpr std::uint64_t pack(std::uint32_t serial, std::uint16_t worker,
                                      std::uint8_t thread, CellState state) {
    return std::uint64_t{serial} << 32 | std::uint64_t{worker} << 16 | std::uint64_t{thread} << 8 |
           static_cast<std::uint64_t>(state);
  }
  static constexpr std::uint64_t with_state(std::uint64_t seen, CellState state) {
    return (seen & ~std::uint64_t{0xff}) | static_cast<std::uint64_t>(state);
  }
  static constexpr std::uint32_t serial_of(std::uint64_t seen) {
    return static_cast<std::uint32_t>(seen >> 32);
  }
  static constexpr CellState state_of(std::uint64_t seen) {
    return static_cast<CellState>(seen & 0xff);
  }
  std::atomic_ref<std::uint64_t> word(std::uint32_t cell) const {
    return std::atomic_ref<std::uint64_t>(cells_[cell].word);
  }
  /// Compare-and-swap; on failure `expected` holds what was there.
  bool swap(std::uint32_t cell, std::uint64_t& expected, std::uint64_t desired) {
    return word(cell).compare_exchange_strong(expected, desired, std::memory_order_acq_rel,
                                              std::memory_order_acquire);
  }

  Cell* cells_ = nullptr;
  std::size_t count_ = 0;
};

static_assert(std::atomic_ref<std::uint64_t>::is_always_lock_free,
              "claim cells are shared between processes");

}  // namespace portico::record
