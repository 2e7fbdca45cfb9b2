#include "tests/support/memory_transport.h"

#include <catch2/catch.hpp>

namespace portico::tests {
namespace {

using core::Flow;

struct Counter : core::Active {
  using Active::Active;
  void advance() override { ++runs; }
  int runs = 0;
};

std::string text(const net::Arrival& arrival) {
  return std::string(std::get<core::Slice>(arrival.piece).view());
}

}  // namespace

TEST_CASE("memory transport: bytes that arrive wake the owner and are read") {
  core::Loop loop(core::Loop::Drive::by_hand);
  Counter owner(loop);
  MemoryPeer peer;
  auto transport = peer.transport();
  transport->attach(&owner);
  CHECK(transport->read(100).flow == Flow::wait);
  peer.arrive("hello");
  loop.turn();
  CHECK(owner.runs == 1);
  CHECK(text(transport->read(3)) == "hel");
  CHECK(text(transport->read(100)) == "lo");
  peer.peer_ends();
  loop.turn();
  CHECK(owner.runs == 2);
  CHECK(transport->read(100).flow == Flow::end);
}

TEST_CASE("memory transport: a stingy peer takes a byte a flush") {
  core::Loop loop(core::Loop::Drive::by_hand);
  Counter owner(loop);
  MemoryPeer peer;
  peer.be_stingy();
  auto transport = peer.transport();
  transport->attach(&owner);
  transport->send(core::Slice::copy("ab"));
  transport->finish_sending();
  CHECK(transport->flush() == Flow::wait);
  CHECK_FALSE(peer.send_ended());
  loop.turn();
  CHECK(owner.runs == 1);
  CHECK(transport->flush() == Flow::end);
  CHECK(peer.take_sent() == "ab");
  CHECK(peer.send_ended());
  CHECK(transport->sent() == 2);
}

TEST_CASE("memory transport: a peer without room makes the sender wait until it has read") {
  core::Loop loop(core::Loop::Drive::by_hand);
  Counter owner(loop);
  MemoryPeer peer;
  peer.limit_room(4);
  auto transport = peer.transport();
  transport->attach(&owner);
  transport->send(core::Slice::copy("abcdef"));
  CHECK(transport->flush() == Flow::wait);
  loop.turn();
  CHECK(owner.runs == 0);
  CHECK(transport->unsent() == 2);
  peer.make_room(unlimited);
  loop.turn();
  CHECK(owner.runs == 1);
  CHECK(transport->flush() == Flow::end);
  CHECK(peer.take_sent() == "abcdef");
}

TEST_CASE("memory transport: a reset fails reads and flushes") {
  core::Loop loop(core::Loop::Drive::by_hand);
  MemoryPeer peer;
  auto transport = peer.transport();
  peer.peer_resets();
  CHECK(transport->read(1).flow == Flow::fail);
  CHECK(transport->flush() == Flow::fail);
  CHECK(transport->broken());
  transport->reset_on_close();
  transport.reset();
  CHECK(peer.closed());
  CHECK(peer.closed_by_reset());
}

TEST_CASE("memory transport: pipes carry the same bytes both ways") {
  MemoryPeer in;
  MemoryPeer out;
  in.use_pipes();
  auto from = in.transport();
  auto to = out.transport();
  in.arrive("through a pipe");
  net::Arrival arrival = from->read(100, net::Splice::allowed);
  REQUIRE(std::holds_alternative<core::PipeRange>(arrival.piece));
  to->send(std::move(arrival.piece));
  CHECK(to->flush() == Flow::end);
  CHECK(out.take_sent() == "through a pipe");
}

}  // namespace portico::tests
