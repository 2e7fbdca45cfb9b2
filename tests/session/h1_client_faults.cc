// H1Client when things go wrong: bad responses, ends and resets at each moment, early responses,
// silence.
#include <catch2/catch.hpp>

#include "tests/support/client_bench.h"

namespace portico::tests {
namespace {

using core::Fault;
using std::chrono::seconds;

// What becomes of a GET that is answered so; the end of the endpoint's side may follow.
Asker& answered(ClientBench& bench, MemoryPeer& peer, Asker& asker, std::string_view bytes) {
  asker.ask(bench.open(peer), bench.request());
  peer.arrive(bytes);
  bench.loop.turn();
  return asker;
}

TEST_CASE("h1_client: a response whose framing is in doubt is refused, its connection closed") {
  const std::string_view heads[] = {
      "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: +5\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: 0x5\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: 5_0\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: \r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: xchunked\r\n\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, gzip\r\n\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
      "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
      "HTTP/1.1 200 OK\r\nX: a\r\n folded\r\n\r\n",
      "HTTP/1.1 200 OK\nContent-Length: 0\n\n",
      "HTTP/1.1 200 OK\r\nX: a\rb\r\n\r\n",
      "HTTP/1.1 200 OK\r\nX : a\r\n\r\n",
      "HTTP/1.1 200 OK\r\n: a\r\n\r\n",
      "HTTP/2.0 200 OK\r\n\r\n",
      "HTTP/1.1 20 OK\r\n\r\n",
      "HTTP/1.1 2000 OK\r\n\r\n",
      "SSH-2.0-OpenSSH_9.2\r\n\r\n",
  };
  for (const std::string_view head : heads) {
    CAPTURE(head);
    ClientBench bench;
    MemoryPeer peer;
    Asker asker(bench.loop);
    answered(bench, peer, asker, head);
    CHECK(asker.error.fault == Fault::bad_response);
    CHECK_FALSE(asker.head);
    CHECK(peer.closed());
    CHECK(bench.idle() == 0);
  }
}

TEST_CASE("h1_client: a NUL in a value is a bad response (RFC 9110 §5.5)") {
  ClientBench bench;
  MemoryPeer peer;
  Asker asker(bench.loop);
  answered(bench, peer, asker, std::string_view("HTTP/1.1 200 OK\r\nX: a\0b\r\n\r\n", 28));
  CHECK(asker.error.fault == Fault::bad_response);
}

TEST_CASE("h1_client: a head without end is refused at its limit") {
  ClientBench bench;
  MemoryPeer peer;
  Asker asker(bench.loop);
  answered(bench, peer, asker, "HTTP/1.1 200 OK\r\nX: " + std::string(70'000, 'x'));
  CHECK(asker.error.fault == Fault::response_too_large);
  CHECK(peer.closed());
}

TEST_CASE("h1_client: bad chunks fail the body, after what was good of it") {
  const std::string_view tails[] = {"x\r\n",     "-1\r\n",    "0x5\r\n",  "11111111111111111\r\n",
                                    "2\r\nabc",  "2\r\nab\n", "2 \r\nab", "2;a\nb\r\n",
                                    "2\r\nab\rx"};
  for (const std::string_view tail : tails) {
    CAPTURE(tail);
    ClientBench bench;
    MemoryPeer peer;
    Asker asker(bench.loop);
    answered(
        bench, peer, asker,
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\ngood\r\n" + std::string(tail));
    CHECK(asker.body.substr(0, 4) == "good");
    CHECK(asker.error.fault == Fault::bad_response);
    CHECK_FALSE(asker.ended);
    CHECK(peer.closed());
  }
}

TEST_CASE("h1_client: an end or a reset at each byte of a response is told as what it is") {
  const std::string answer =
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n";
  for (const bool reset : {false, true}) {
    for (std::size_t cut = 0; cut < answer.size(); ++cut) {
      CAPTURE(reset, cut);
      ClientBench bench;
      MemoryPeer peer;
      Asker asker(bench.loop);
      answered(bench, peer, asker, answer.substr(0, cut));
      if (reset)
        peer.peer_resets();
      else
        peer.peer_ends();
      bench.loop.turn();
      const Fault closed = reset ? Fault::endpoint_reset : Fault::endpoint_closed;
      CHECK(asker.error.fault == (cut == 0 ? closed : Fault::response_cut));
      CHECK_FALSE(asker.ended);
      CHECK(bench.idle() == 0);
      CHECK(peer.closed());
    }
  }
}

TEST_CASE("h1_client: a response until close that is reset has not ended") {
  ClientBench bench;
  MemoryPeer peer;
  Asker asker(bench.loop);
  answered(bench, peer, asker, "HTTP/1.1 200 OK\r\n\r\nhalf of it");
  peer.peer_resets();
  bench.loop.turn();
  CHECK(asker.error.fault == Fault::response_cut);
  CHECK_FALSE(asker.ended);
}

TEST_CASE("h1_client: a length that the endpoint does not keep is a cut response") {
  ClientBench bench;
  MemoryPeer peer;
  Asker asker(bench.loop);
  answered(bench, peer, asker, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort");
  peer.peer_ends();
  bench.loop.turn();
  CHECK(asker.body == "short");
  CHECK(asker.error.fault == Fault::response_cut);
}

// RFC 9112 §9.5; gunicorn#872: a 401 in the middle of an upload must arrive.
TEST_CASE("h1_client: an answer that came before the connection broke is still read") {
  ClientBench bench;
  MemoryPeer peer;
  peer.limit_room(60'000);
  Asker asker(bench.loop);
  FedBody body;
  body.feed(std::string(1'000'000, 'u'));
  asker.ask(bench.open(peer), bench.upload(body, 1'000'000));
  peer.arrive("HTTP/1.1 401 Unauthorized\r\nContent-Length: 3\r\n\r\nwho");
  peer.refuse_sending();
  bench.loop.turn();
  REQUIRE(asker.head);
  CHECK(asker.head->status == 401);
  CHECK(asker.body == "who");
  CHECK(asker.ended);
  CHECK(bench.idle() == 0);
  CHECK(peer.closed());
}

TEST_CASE("h1_client: after a write error without an answer, the end is what is told") {
  ClientBench bench;
  MemoryPeer peer;
  peer.refuse_sending();
  Asker asker(bench.loop);
  asker.ask(bench.open(peer), bench.request());
  bench.loop.turn();
  CHECK(asker.error.fault == Fault::none);  // it may still come
  peer.peer_ends();
  bench.loop.turn();
  CHECK(asker.error.fault == Fault::endpoint_closed);
}

TEST_CASE("h1_client: an early response ends the exchange, the connection is not used again") {
  ClientBench bench;
  MemoryPeer peer;
  Asker asker(bench.loop);
  FedBody body;
  body.feed("begin");
  asker.ask(bench.open(peer), bench.upload(body, 1'000'000));
  peer.arrive("HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\n\r\n");
  bench.loop.turn();
  CHECK(asker.head->status == 413);
  CHECK(asker.ended);
  CHECK(bench.idle() == 0);
  CHECK(peer.closed());
}

TEST_CASE("h1_client: while an early response is relayed the upload goes on") {
  ClientBench bench;
  MemoryPeer peer;
  Asker asker(bench.loop);
  FedBody body;
  asker.ask(bench.open(peer), bench.upload(body, 10));
  peer.take_sent();
  peer.arrive("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n");
  bench.loop.turn();
  CHECK(asker.body == "a");
  body.feed("0123456789");
  body.end();
  bench.loop.turn();
  CHECK(peer.take_sent() == "0123456789");
  peer.arrive("1\r\nb\r\n0\r\n\r\n");
  bench.loop.turn();
  CHECK(asker.body == "ab");
  CHECK(asker.ended);
  CHECK(bench.idle() == 1);
}

TEST_CASE("h1_client: a request body that fails is the client's fault and cuts the request") {
  ClientBench bench;
  MemoryPeer peer;
  Asker asker(bench.loop);
  FedBody body;
  body.feed("begin");
  asker.ask(bench.open(peer), bench.upload(body, std::nullopt));
  body.fail(Fault::body_timeout);
  bench.loop.turn();
  CHECK(asker.error.fault == Fault::body_timeout);
  CHECK(peer.sent().find("0\r\n\r\n") == std::string::npos);
  CHECK(peer.closed());
}

TEST_CASE("h1_client: a stream that is dropped closes its connection, at each moment") {
  for (const std::string_view bytes :
       {"", "HTTP/1.1 2", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"}) {
    ClientBench bench;
    MemoryPeer peer;
    Asker asker(bench.loop);
    asker.ask(bench.open(peer), bench.request());
    peer.arrive(bytes);
    bench.loop.turn();
    asker.drop();
    bench.loop.turn();
    CHECK(peer.closed());
    CHECK(bench.idle() == 0);
  }
}

TEST_CASE("h1_client: silence before the head is a timeout, counted from the sent request") {
  ClientBench bench;
  MemoryPeer peer;
  Asker asker(bench.loop);
  FedBody body;
  client::Request request = bench.upload(body, 1);
  request.silence = seconds(10);
  asker.ask(bench.open(peer), request);
  bench.loop.pass(seconds(60));  // the client is slow: not the endpoint's fault
  CHECK(asker.error.fault == Fault::none);
  body.feed("x");
  body.end();
  bench.loop.turn();
  bench.loop.pass(seconds(9));
  CHECK(asker.error.fault == Fault::none);
  bench.loop.pass(seconds(1));
  CHECK(asker.error.fault == Fault::response_timeout);
  CHECK(peer.closed());
}

TEST_CASE("h1_client: a head that comes in drops does not put the timeout off, a 1xx does") {
  ClientBench bench;
  MemoryPeer peer;
  Asker asker(bench.loop);
  client::Request request = bench.request();
  request.silence = seconds(10);
  asker.ask(bench.open(peer), request);
  bench.loop.pass(seconds(6));
  peer.arrive("HTTP/1.1 102 Processing\r\n\r\n");
  bench.loop.turn();
  bench.loop.pass(seconds(6));
  CHECK(asker.error.fault == Fault::none);
  peer.arrive("HTTP");
  bench.loop.turn();
  bench.loop.pass(seconds(4));
  CHECK(asker.error.fault == Fault::response_timeout);
}

TEST_CASE("h1_client: silence within a body is a timeout, but not while nobody pulls") {
  ClientBench bench;
  MemoryPeer peer;
  Asker asker(bench.loop);
  client::Request request = bench.request();
  request.silence = seconds(10);
  asker.ask(bench.open(peer), request);
  peer.arrive("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\na");
  bench.loop.turn();
  for (int i = 0; i < 5; ++i) {
    bench.loop.pass(seconds(9));
    peer.arrive("b");
    bench.loop.turn();
  }
  CHECK(asker.body == "abbbbb");
  bench.loop.pass(seconds(10));
  CHECK(asker.error.fault == Fault::response_timeout);
}

TEST_CASE("h1_client: an endpoint that does not take the request is silent, too") {
  ClientBench bench;
  MemoryPeer peer;
  peer.limit_room(10);
  Asker asker(bench.loop);
  client::Request request = bench.request();
  request.silence = seconds(10);
  asker.ask(bench.open(peer), request);
  bench.loop.pass(seconds(9));
  peer.make_room(5);
  bench.loop.turn();
  bench.loop.pass(seconds(9));
  CHECK(asker.error.fault == Fault::none);
  bench.loop.pass(seconds(1));
  CHECK(asker.error.fault == Fault::response_timeout);
}

}  // namespace
}  // namespace portico::tests
