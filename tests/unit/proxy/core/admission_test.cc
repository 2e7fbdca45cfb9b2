#include "proxy/core/admission.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <memory>
#include <thread>
#include <vector>

#include "tests/support/run_loop.h"

namespace portico::core {
namespace {

using tests::Agent;

struct Holder {
  explicit Holder(Loop& loop) : agent(loop, [] {}), ticket(agent) {}
  Agent agent;
  Ticket ticket;
};

}  // namespace

TEST_CASE("admission: slots first, then places in the queue, then no more") {
  Loop loop(Loop::Drive::by_hand);
  Admission admission(1, 1);
  Holder a(loop), b(loop), c(loop);
  CHECK(a.ticket.enter(admission));
  CHECK(a.ticket.admitted());
  CHECK(b.ticket.enter(admission));
  CHECK_FALSE(b.ticket.admitted());
  CHECK(b.ticket.waiting());
  CHECK_FALSE(c.ticket.enter(admission));
  CHECK_FALSE(c.ticket.waiting());
  CHECK(admission.in_use() == 1);
  CHECK(admission.waiting() == 1);
}

TEST_CASE("admission: a freed slot goes to the next ticket, whose owner is woken") {
  Loop loop(Loop::Drive::by_hand);
  Admission admission(1, 10);
  Holder a(loop), b(loop), c(loop);
  for (Holder* holder : {&a, &b, &c}) holder->ticket.enter(admission);
  a.ticket.leave();
  CHECK(b.ticket.admitted());
  CHECK(b.agent.runs == 0);
  loop.turn();
  CHECK(b.agent.runs == 1);
  CHECK(c.ticket.waiting());
  CHECK(a.ticket.enter(admission));
  b.ticket.leave();
  CHECK(c.ticket.admitted());  // whoever came back stands behind
  CHECK(a.ticket.waiting());
}

TEST_CASE("admission: nobody overtakes the queue, even when a slot is free") {
  Loop loop(Loop::Drive::by_hand);
  Admission admission(0, 10);
  Holder a(loop), b(loop);
  CHECK(a.ticket.enter(admission));
  admission.resize(1);
  CHECK(a.ticket.admitted());
  CHECK(b.ticket.enter(admission));
  CHECK(b.ticket.waiting());
  admission.resize(2);
  CHECK(b.ticket.admitted());
  admission.resize(1);
  CHECK(admission.in_use() == 2);
  a.ticket.leave();
  CHECK(admission.in_use() == 1);
}

TEST_CASE("admission: leaving the scope gives up the place or the slot") {
  Loop loop(Loop::Drive::by_hand);
  Admission admission(1, 10);
  auto a = std::make_unique<Holder>(loop);
  auto b = std::make_unique<Holder>(loop);
  Holder c(loop);
  a->ticket.enter(admission);
  b->ticket.enter(admission);
  c.ticket.enter(admission);
  b.reset();
  CHECK(admission.waiting() == 1);
  a.reset();
  CHECK(c.ticket.admitted());
}

TEST_CASE("admission: a ticket that leaves between admission and notice is not woken") {
  Loop loop(Loop::Drive::by_hand);
  Admission admission(1, 10);
  Holder a(loop), b(loop);
  a.ticket.enter(admission);
  b.ticket.enter(admission);
  a.ticket.leave();
  b.ticket.leave();
  CHECK(admission.in_use() == 0);
  loop.turn();
  CHECK(b.agent.runs == 0);
}

TEST_CASE("admission: a notice that was never read is freed with the loop") {
  Admission admission(1, 10);
  Loop loop(Loop::Drive::by_hand);
  Holder a(loop), b(loop);
  a.ticket.enter(admission);
  b.ticket.enter(admission);
  a.ticket.leave();
}

TEST_CASE("admission: threads share the slots, and none is lost or doubled") {
  constexpr int threads = 4;
  constexpr int rounds = 3000;
  Admission admission(2, 100);
  std::atomic<int> inside = 0;
  std::atomic<int> most = 0;
  std::atomic<int> served = 0;
  std::atomic<int> late = 0;
  const auto work = [&] {
    Loop loop;
    int left = rounds;
    bool holding = false;  // for one turn, so that others can be seen inside
    std::unique_ptr<Ticket> ticket;
    Agent* self = nullptr;
    Agent agent(loop, [&] {
      if (!ticket->admitted()) return;
      if (!holding) {
        const int now = ++inside;
        for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
        }
      } else {
        --inside;
        ++served;
        ticket->leave();
        if (--left == 0) return loop.stop();
        ticket->enter(admission);
      }
      holding = !holding;
      if (holding || ticket->admitted()) self->wake();
    });
    self = &agent;
    ticket = std::make_unique<Ticket>(agent);
    ticket->enter(admission);
    agent.wake();
    if (!tests::run_loop(loop)) ++late;  // Catch's checks belong to one thread
  };
  std::vector<std::thread> all;
  for (int i = 0; i < threads; ++i) all.emplace_back(work);
  for (std::thread& thread : all) thread.join();
  CHECK(late == 0);
  CHECK(served == threads * rounds);
  CHECK(most <= 2);
  CHECK(admission.in_use() == 0);
  CHECK(admission.waiting() == 0);
}

}  // namespace portico::core
