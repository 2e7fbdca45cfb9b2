// Which connections are kept and used again, how long, and what is learned from their ends.
#include <catch2/catch.hpp>

#include "tests/support/client_bench.h"

namespace portico::tests {
namespace {

using core::Fault;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::string_view fine = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

// One GET over a new connection, answered so.
void exchange(ClientBench& bench, MemoryPeer& peer, std::string_view answer = fine) {
  Asker asker(bench.loop);
  asker.ask(bench.open(peer), bench.request());
  peer.arrive(answer);
  bench.loop.turn();
  peer.take_sent();
}

TEST_CASE("connections: a connection is used again, with one read and one flush a request") {
  ClientBench bench;
  MemoryPeer peer;
  exchange(bench, peer);
  REQUIRE(bench.idle() == 1);
  for (int i = 0; i < 3; ++i) {
    Asker asker(bench.loop);
    const auto flushes = peer.flushes();
    asker.ask(bench.connections.reuse(*bench.destination), bench.request());
    CHECK(bench.idle() == 0);
    CHECK(asker.stream().facts().reused);
    CHECK(peer.flushes() == flushes + 1);
    peer.arrive(fine);
    bench.loop.turn();
    CHECK(asker.body == "ok");
    CHECK(bench.idle() == 1);
  }
}

TEST_CASE("connections: it goes back as soon as the last byte is handed out") {
  ClientBench bench;
  MemoryPeer peer;
  Asker asker(bench.loop);
  asker.pulls = false;
  asker.ask(bench.open(peer), bench.request());
  peer.arrive(fine);
  bench.loop.turn();
  CHECK(bench.idle() == 0);
  const http::Pull pull = asker.stream().pull(100, asker);
  CHECK(pull.flow == core::Flow::data);
  CHECK(bench.idle() == 1);
  CHECK(asker.stream().pull(100, asker).flow == core::Flow::end);
  CHECK(asker.stream().pull(100, asker).flow == core::Flow::end);
}

TEST_CASE("connections: the owner is woken once more when the response is complete") {
  ClientBench bench;
  MemoryPeer peer;
  Asker asker(bench.loop);
  asker.pulls = false;
  asker.ask(bench.open(peer), bench.request());
  peer.arrive(fine);
  bench.loop.turn();
  const int wakes = asker.wakes;
  asker.stream().pull(100, asker);
  bench.loop.turn();
  CHECK(asker.wakes == wakes + 1);
}

TEST_CASE("connections: what may not be used again is closed") {
  const std::string_view answers[] = {
      "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok",
      "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok",
      "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\n",  // surplus
      "HTTP/1.1 204 No Content\r\n\r\nsurplus",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nx",
  };
  for (const std::string_view answer : answers) {
    CAPTURE(answer);
    ClientBench bench;
    MemoryPeer peer;
    exchange(bench, peer, answer);
    CHECK(bench.idle() == 0);
    CHECK(peer.closed());
  }
}

TEST_CASE("connections: a body until close is never kept") {
  ClientBench bench;
  MemoryPeer peer;
  Asker asker(bench.loop);
  asker.ask(bench.open(peer), bench.request());
  peer.arrive("HTTP/1.1 200 OK\r\n\r\nall of it");
  peer.peer_ends();
  bench.loop.turn();
  CHECK(asker.ended);
  CHECK(bench.idle() == 0);
}

TEST_CASE("connections: an HTTP/1.0 endpoint that says keep-alive is kept") {
  ClientBench bench;
  MemoryPeer peer;
  exchange(bench, peer, "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok");
  CHECK(bench.idle() == 1);
}

// 1 §9.2: a response nobody asked for would be taken for that of the next request.
TEST_CASE("connections: an idle one that becomes readable is closed") {
  ClientBench bench;
  MemoryPeer peer;
  exchange(bench, peer);
  bench.loop.pass(seconds(3));
  peer.arrive("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
  bench.loop.turn();
  CHECK(bench.idle() == 0);
  CHECK(peer.closed());
}

TEST_CASE("connections: what came unasked is noticed at the moment of reuse, too") {
  ClientBench bench;
  MemoryPeer peer;
  exchange(bench, peer);
  peer.arrive("HTTP/1.1 408 Request Timeout\r\n\r\n");  // no turn of the loop between
  CHECK(bench.connections.reuse(*bench.destination) == nullptr);
  bench.loop.turn();
  CHECK(peer.closed());
}

TEST_CASE("connections: the end of an idle one teaches its age") {
  ClientBench bench;
  MemoryPeer peer;
  exchange(bench, peer);
  bench.loop.pass(seconds(5));
  peer.peer_ends();
  bench.loop.turn();
  CHECK(bench.idle() == 0);
  CHECK(bench.destination->closed_at == std::vector<core::Duration>{seconds(5)});
}

TEST_CASE("connections: an idle one is closed when its time is over, and that teaches nothing") {
  ClientBench bench;
  bench.destination->limit = seconds(4);
  MemoryPeer peer;
  exchange(bench, peer);
  bench.loop.pass(seconds(4) - milliseconds(1));
  CHECK(bench.idle() == 1);
  bench.loop.pass(milliseconds(1));
  CHECK(bench.idle() == 0);
  CHECK(peer.closed());
  CHECK(bench.destination->closed_at.empty());
}

TEST_CASE("connections: each use starts the idle time anew") {
  ClientBench bench;
  bench.destination->limit = seconds(4);
  MemoryPeer peer;
  exchange(bench, peer);
  for (int i = 0; i < 3; ++i) {
    bench.loop.pass(seconds(3));
    Asker asker(bench.loop);
    asker.ask(bench.connections.reuse(*bench.destination), bench.request());
    peer.arrive(fine);
    bench.loop.turn();
  }
  CHECK(bench.idle() == 1);
}

TEST_CASE("connections: Keep-Alive of a response is passed on, in any company") {
  struct Row {
    std::string_view value;
    std::optional<core::Duration> expected;
  };
  const Row rows[] = {{"timeout=5", seconds(5)},
                      {"max=100, timeout=2", seconds(2)},
                      {"Timeout=7, max=3", seconds(7)},
                      {"timeout=99999999", seconds(86400)},
                      {"timeout=x", {}},
                      {"timeout=", {}},
                      {"max=100", {}},
                      {"time", {}}};
  for (const Row& row : rows) {
    CAPTURE(row.value);
    ClientBench bench;
    MemoryPeer peer;
    exchange(bench, peer,
             "HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nKeep-Alive: " + std::string(row.value) +
                 "\r\nContent-Length: 2\r\n\r\nok");
    CHECK(bench.destination->told == row.expected);
  }
}

TEST_CASE("connections: last in, first out; beyond the cap they are closed") {
  ClientBench bench;
  client::Connections few(bench.loop, 2);
  MemoryPeer peers[3];
  std::vector<std::unique_ptr<Asker>> askers;
  for (MemoryPeer& peer : peers) {
    askers.push_back(std::make_unique<Asker>(bench.loop));
    askers.back()->ask(few.open(bench.destination, peer.transport()), bench.request());
  }
  for (MemoryPeer& peer : peers) {
    peer.take_sent();
    peer.arrive(fine);
    bench.loop.turn();
  }
  CHECK(few.idle(*bench.destination) == 2);
  CHECK(peers[2].closed());
  Asker asker(bench.loop);
  asker.ask(few.reuse(*bench.destination), bench.request());
  CHECK(peers[0].sent().empty());
  CHECK_FALSE(peers[1].sent().empty());
}

TEST_CASE("connections: those of one destination are not another's") {
  ClientBench bench;
  MemoryPeer peer;
  exchange(bench, peer);
  const NotingDestination other;
  CHECK(bench.connections.reuse(other) == nullptr);
}

TEST_CASE("h1_client: a reused connection that closes before a byte is told apart") {
  for (const bool reset : {false, true}) {
    ClientBench bench;
    MemoryPeer peer;
    exchange(bench, peer);
    struct Owner final : core::Active {
      using Active::Active;
      void advance() override {}
    } owner(bench.loop);
    auto stream = bench.connections.reuse(*bench.destination);
    stream->start(bench.request(), owner);
    if (reset)
      peer.peer_resets();
    else
      peer.peer_ends();
    bench.loop.turn();
    CHECK(stream->next() == client::Stream::Event::fail);
    CHECK(stream->error().fault == (reset ? Fault::endpoint_reset : Fault::endpoint_closed));
    CHECK(stream->facts().reused);
    CHECK_FALSE(stream->facts().answer_began);
    CHECK(stream->facts().request_sent);
  }
}

}  // namespace
}  // namespace portico::tests
