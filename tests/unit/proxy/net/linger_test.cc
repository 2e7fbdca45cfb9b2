#include "proxy/net/linger.h"

#include <catch2/catch.hpp>
#include <csignal>

#include "proxy/net/tcp.h"
#include "tests/support/memory_transport.h"
#include "tests/support/run_loop.h"
#include "tests/support/sockets.h"

namespace portico::net {
namespace {

using core::Flow;
using core::Slice;
using tests::MemoryPeer;
using namespace std::chrono_literals;

/// Starts to linger over a memory transport with an answer still to send.
void linger(core::Loop& loop, MemoryPeer& peer, const LingerLimits& limits = {}) {
  auto transport = peer.transport();
  transport->send(Slice::literal("413"));
  Linger::start(loop, std::move(transport), limits);
  loop.turn();
}

}  // namespace

TEST_CASE("linger: sends the rest, ends, discards until the peer's end") {
  core::Loop loop(core::Loop::Drive::by_hand);
  MemoryPeer peer;
  peer.arrive("upload");
  linger(loop, peer);
  CHECK(peer.take_sent() == "413");
  CHECK(peer.send_ended());
  CHECK_FALSE(peer.closed());
  peer.arrive("more upload");
  loop.turn();
  CHECK(peer.unread() == 0);
  peer.peer_ends();
  loop.turn();
  CHECK(peer.closed());
}

TEST_CASE("linger: a silent peer is left, one that moves is not") {
  core::Loop loop(core::Loop::Drive::by_hand);
  MemoryPeer peer;
  linger(loop, peer, {.total = 10s, .silence = 2s});
  loop.pass(1500ms);
  peer.arrive("x");
  loop.turn();
  loop.pass(1900ms);
  CHECK_FALSE(peer.closed());
  loop.pass(200ms);
  CHECK(peer.closed());
}

TEST_CASE("linger: nobody holds the connection for longer than the total") {
  core::Loop loop(core::Loop::Drive::by_hand);
  MemoryPeer peer;
  linger(loop, peer, {.total = 5s, .silence = 2s});
  for (int i = 0; i < 4; ++i) {
    peer.arrive("x");
    loop.pass(1s);
  }
  CHECK_FALSE(peer.closed());
  peer.arrive("x");
  loop.pass(1s);
  CHECK(peer.closed());
}

TEST_CASE("linger: discards no more than its limit") {
  core::Loop loop(core::Loop::Drive::by_hand);
  MemoryPeer peer;
  linger(loop, peer, {.bytes = 10});
  peer.arrive("12345");
  loop.turn();
  CHECK_FALSE(peer.closed());
  peer.arrive("67890");
  loop.turn();
  CHECK(peer.closed());
}

TEST_CASE("linger: a reset ends it, and so does the end of the loop") {
  MemoryPeer left;
  {
    core::Loop loop(core::Loop::Drive::by_hand);
    MemoryPeer peer;
    linger(loop, peer);
    peer.peer_resets();
    loop.turn();
    CHECK(peer.closed());
    linger(loop, left);
    CHECK_FALSE(left.closed());
  }
  CHECK(left.closed());
}

TEST_CASE("linger: a client in the middle of an upload gets the whole answer, no reset") {
  ::signal(SIGPIPE, SIG_IGN);
  core::Loop loop;
  auto [client_fd, server_fd] = tests::tcp_pair();
  const std::string upload(5 << 20, 'u');
  std::string answer;
  Flow last = Flow::wait;
  SocketTransport client(loop, std::move(client_fd));
  tests::Agent reader(loop, [&] {
    client.flush();
    if (client.unsent() > 0) return;  // a client that reads only when all is sent
    client.finish_sending();
    Arrival in = client.read(1000);
    for (; in.flow == Flow::data; in = client.read(1000))
      answer += std::get<Slice>(in.piece).view();
    last = in.flow;
    if (last != Flow::wait) loop.stop();
  });
  client.attach(&reader);
  client.send(Slice::literal(upload));
  reader.wake();
  auto server = std::make_unique<SocketTransport>(loop, std::move(server_fd));
  server->send(Slice::literal("413 too large"));
  Linger::start(loop, std::move(server));
  REQUIRE(tests::run_loop(loop));
  CHECK(last == Flow::end);
  CHECK(answer == "413 too large");
}

}  // namespace portico::net
