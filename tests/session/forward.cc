// Forward: what an endpoint gets to see, what a client gets to see, and the trace; with a real
// session in front and endpoints over memory.
#include "proxy/route/forward.h"

#include <catch2/catch.hpp>

#include "tests/support/forward_bench.h"

namespace portico::tests {
namespace {

using core::Fault;
using std::chrono::seconds;

TEST_CASE("forward: a request goes to the endpoint, its answer to the client") {
  ForwardBench bench;
  MemoryPeer& client =
      bench.client("GET /a/../b%7e?q=%2F HTTP/1.1\r\nHost: a.example\r\nAccept: */*\r\n\r\n");
  CHECK(bench.endpoint().last().take_sent() ==
        "GET /b~?q=%2F HTTP/1.1\r\nhost: a.example\r\naccept: */*\r\n\r\n");
  bench.answer("HTTP/1.1 201 Created\r\nX-Own: yes\r\nContent-Length: 5\r\n\r\nhello");
  const std::string answer = client.take_sent();
  CHECK(status_of(answer) == "201");
  CHECK(has_line(answer, "x-own: yes"));
  CHECK(has_line(answer, "content-length: 5"));
  CHECK(body_of(answer) == "hello");
  CHECK(bench.trace().upstream == first_address);
  CHECK(bench.trace().attempts == 1);
  CHECK(bench.trace().status == 201);
  CHECK(bench.fault() == Fault::none);
}

TEST_CASE("forward: fields of the hop stop here, in both directions") {
  ForwardBench bench;
  MemoryPeer& client = bench.client(
      "GET / HTTP/1.1\r\nHost: a.example\r\nConnection: x-private, keep-alive\r\nX-Private: 1\r\n"
      "Keep-Alive: 5\r\nTE: trailers\r\nProxy: evil\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n"
      "Proxy-Authorization: x\r\nX-Public: 2\r\n\r\n");
  CHECK(bench.endpoint().last().take_sent() ==
        "GET / HTTP/1.1\r\nhost: a.example\r\nx-public: 2\r\n\r\n");
  bench.answer(
      "HTTP/1.1 200 OK\r\nConnection: keep-alive, X-Hop\r\nX-Hop: 1\r\nKeep-Alive: timeout=5\r\n"
      "X-Accel-Redirect: /etc/passwd\r\nX-Sendfile: /etc/passwd\r\nX-End: 2\r\n"
      "Content-Length: 2\r\n\r\nok");
  const std::string answer = client.take_sent();
  for (const char* gone : {"x-hop", "keep-alive", "x-accel-redirect", "x-sendfile"})
    CHECK_FALSE(has_field(answer, gone));
  CHECK(has_line(answer, "x-end: 2"));
}

TEST_CASE("forward: a name that a CGI naming takes for another's stops here (CVE-2015-0219)") {
  ForwardBench bench;
  bench.client(
      "GET / HTTP/1.1\r\nHost: a.example\r\nX-A: 1\r\nX.A: 2\r\nX_Forwarded_For: 9.9.9.9\r\n"
      "Content!Length: 3\r\nMy.Own: 4\r\n\r\n");
  CHECK(bench.endpoint().last().take_sent() ==
        "GET / HTTP/1.1\r\nhost: a.example\r\nx-a: 1\r\nmy.own: 4\r\n\r\n");
}

TEST_CASE("forward: a client of HTTP/1.0 without Host gets one") {
  ForwardBench bench;
  bench.client("GET / HTTP/1.0\r\n\r\n");
  CHECK(bench.endpoint().last().take_sent() == "GET / HTTP/1.1\r\nhost: localhost\r\n\r\n");
}

TEST_CASE("forward: bodies go up as they come, of known and of unknown length") {
  ForwardBench bench;
  MemoryPeer& client =
      bench.client("POST / HTTP/1.1\r\nHost: a.example\r\nContent-Length: 10\r\n\r\n01234");
  CHECK(bench.endpoint().last().take_sent() ==
        "POST / HTTP/1.1\r\nhost: a.example\r\ncontent-length: 10\r\n\r\n01234");
  client.arrive("56789");
  bench.loop().turn();
  CHECK(bench.endpoint().last().take_sent() == "56789");
  bench.answer(ForwardBench::fine);
  CHECK(status_of(client.take_sent()) == "200");

  bench.client(
      "POST / HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: chunked\r\n\r\n"
      "5\r\nhello\r\n0\r\n\r\n");
  const std::string sent = bench.endpoint().last().take_sent();
  CHECK(has_line(sent, "transfer-encoding: chunked"));
  CHECK_FALSE(has_field(sent, "content-length"));
  CHECK(unchunked(body_of(sent)) == "hello");
}

TEST_CASE("forward: 100 Continue is ours to say, Expect is not passed on") {
  ForwardBench bench;
  MemoryPeer& client = bench.client(
      "POST / HTTP/1.1\r\nHost: a.example\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n");
  CHECK(client.take_sent() == "HTTP/1.1 100 Continue\r\n\r\n");
  CHECK_FALSE(has_field(bench.endpoint().last().sent(), "expect"));
  client.arrive("ok");
  bench.loop().turn();
  CHECK(body_of(bench.endpoint().last().take_sent()) == "ok");
}

TEST_CASE("forward: interim responses are passed on to HTTP/1.1 clients only") {
  for (const bool old : {false, true}) {
    ForwardBench bench;
    MemoryPeer& client =
        bench.client(old ? "GET / HTTP/1.0\r\nHost: a.example\r\n\r\n" : ForwardBench::get);
    bench.answer("HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\nConnection: x\r\n\r\n");
    CHECK(count(client.sent(), "HTTP/1.1 103") == (old ? 0 : 1));
    CHECK_FALSE(has_field(client.sent(), "connection"));
    bench.answer(ForwardBench::fine);
    CHECK(count(client.take_sent(), " 200 OK") == 1);
  }
}

TEST_CASE("forward: HEAD and 304 tell their length and have no body") {
  ForwardBench bench;
  MemoryPeer& client = bench.client("HEAD / HTTP/1.1\r\nHost: a.example\r\n\r\n");
  bench.answer("HTTP/1.1 200 OK\r\nContent-Length: 1234\r\n\r\n");
  std::string answer = client.take_sent();
  CHECK(has_line(answer, "content-length: 1234"));
  CHECK(body_of(answer).empty());
  client.arrive(ForwardBench::get);
  bench.loop().turn();
  bench.answer("HTTP/1.1 304 Not Modified\r\nETag: \"x\"\r\n\r\n");
  answer = client.take_sent();
  CHECK(status_of(answer) == "304");
  CHECK(bench.endpoint().dials == 1);
}

TEST_CASE("forward: a kept connection serves the next request, of another client too") {
  ForwardBench bench;
  bench.warm();
  for (int i = 0; i < 3; ++i) bench.warm();
  CHECK(bench.endpoint().dials == 1);
  CHECK(bench.state().in_flight() == 0);
}

TEST_CASE("forward: a warm request costs one flush on each side") {
  ForwardBench bench;
  MemoryPeer& client = bench.client(ForwardBench::get);
  bench.answer(ForwardBench::fine);
  client.take_sent();
  const auto flushes = bench.endpoint().last().flushes();
  const auto client_flushes = client.flushes();
  client.arrive(ForwardBench::get);
  bench.loop().turn();
  CHECK(bench.endpoint().last().flushes() == flushes + 1);
  bench.answer(ForwardBench::fine);
  CHECK(status_of(client.take_sent()) == "200");
  CHECK(client.flushes() == client_flushes + 1);
}

TEST_CASE("forward: the endpoint is free when it has said all, however slow the client is") {
  ForwardBench bench;
  MemoryPeer& client = bench.client("");
  client.limit_room(10);
  client.arrive(ForwardBench::get);
  bench.loop().turn();
  CHECK(bench.state().in_flight() == 1);
  bench.answer("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n" + std::string(1000, 'x'));
  CHECK(bench.state().in_flight() == 0);
  CHECK(client.sent().size() == 10);
}

TEST_CASE("forward: a client that does not read holds the endpoint back") {
  ForwardBench bench;
  MemoryPeer& client = bench.client("");
  client.limit_room(1000);
  client.arrive(ForwardBench::get);
  bench.loop().turn();
  bench.answer("HTTP/1.1 200 OK\r\nContent-Length: 10000000\r\n\r\n");
  bench.answer(std::string(10'000'000, 'x'));
  CHECK(bench.endpoint().last().unread() > 9'700'000);
  client.make_room(unlimited);
  bench.loop().turn();
  CHECK(body_of(client.take_sent()).size() == 10'000'000);
}

TEST_CASE("forward: every byte arrives through stingy kernels on both sides") {
  ForwardBench bench;
  MemoryPeer& client = bench.client("");
  client.be_stingy(7);
  std::string body;
  for (int i = 0; i < 5000; ++i) body += std::to_string(i);
  client.arrive("POST / HTTP/1.1\r\nHost: a.example\r\nContent-Length: " +
                std::to_string(body.size()) + "\r\n\r\n" + body);
  bench.loop().turn();
  bench.endpoint().last().be_stingy(3);
  CHECK(body_of(bench.endpoint().last().take_sent()) == body);
  bench.answer("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
               body);
  CHECK(body_of(client.take_sent()) == body);
}

TEST_CASE("forward: a client that leaves ends the request at the endpoint") {
  ForwardBench bench;
  MemoryPeer& client = bench.client(ForwardBench::get);
  client.peer_resets();
  bench.loop().turn();
  CHECK(bench.endpoint().last().closed());
  CHECK(bench.state().in_flight() == 0);
  CHECK(bench.fault() == Fault::client_gone);
}

TEST_CASE("forward: a bad response is 502, and says why") {
  ForwardBench bench;
  MemoryPeer& client = bench.client(ForwardBench::get);
  bench.answer("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n");
  CHECK(status_of(client.take_sent()) == "502");
  CHECK(bench.fault() == Fault::bad_response);
  CHECK(bench.endpoint().last().closed());
}

TEST_CASE("forward: a response that is cut is cut for the client, never ended for it") {
  ForwardBench bench;
  MemoryPeer& client = bench.client(ForwardBench::get);
  bench.answer("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n");
  bench.endpoint().last().peer_ends();
  bench.loop().turn();
  CHECK(count(client.sent(), "half") == 1);
  CHECK(count(client.sent(), "0\r\n\r\n") == 0);
  CHECK(client.closed());
  CHECK(bench.fault() == Fault::response_cut);
}

TEST_CASE("forward: silence is 504, before the head") {
  conf::Timeouts timeouts;
  timeouts.response = seconds(7);
  ForwardBench bench(pool_of({first_address}), timeouts);
  MemoryPeer& client = bench.client(ForwardBench::get);
  bench.loop().pass(seconds(6));
  CHECK(client.sent().empty());
  bench.loop().pass(seconds(1));
  CHECK(status_of(client.take_sent()) == "504");
  CHECK(bench.fault() == Fault::response_timeout);
}

TEST_CASE("forward: an endpoint that cannot be reached in time is 504") {
  conf::Timeouts timeouts;
  timeouts.connect = seconds(3);
  ForwardBench bench(pool_of({first_address}), timeouts);
  bench.endpoint().manner = FakeEndpoint::Manner::is_silent;
  MemoryPeer& client = bench.client(ForwardBench::get);
  bench.loop().pass(seconds(3));
  CHECK(status_of(client.take_sent()) == "504");
  CHECK(bench.fault() == Fault::connect_timeout);
}

TEST_CASE("forward: our own want of descriptors is not held against the endpoint") {
  ForwardBench bench;
  bench.endpoint().manner = FakeEndpoint::Manner::has_no_descriptors;
  for (int i = 0; i < 5; ++i) {
    MemoryPeer& client = bench.client(ForwardBench::get);
    CHECK(status_of(client.take_sent()) == "503");
    CHECK(bench.fault() == Fault::no_descriptors);
  }
  CHECK(bench.state().usable(bench.loop().now()));
}

TEST_CASE("forward: an early 413 arrives, the endpoint's connection is closed") {
  ForwardBench bench;
  MemoryPeer& client =
      bench.client("POST / HTTP/1.1\r\nHost: a.example\r\nContent-Length: 1000000\r\n\r\nbegin");
  bench.answer("HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\n\r\n");
  CHECK(status_of(client.take_sent()) == "413");
  CHECK(bench.endpoint().last().closed());
}

constexpr std::string_view handshake =
    "GET /ws HTTP/1.1\r\nHost: a.example\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";

TEST_CASE("forward: a WebSocket becomes a tunnel") {
  ForwardBench bench;
  MemoryPeer& client = bench.client(std::string(handshake) + "early");
  const std::string sent = bench.endpoint().last().take_sent();
  CHECK(has_line(sent, "upgrade: websocket"));
  CHECK(has_line(sent, "connection: upgrade"));
  CHECK(body_of(sent).empty());  // bytes behind the handshake wait for the 101
  bench.answer(
      "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
      "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\nfrom the endpoint");
  const std::string answer = client.take_sent();
  CHECK(status_of(answer) == "101");
  CHECK(has_line(answer, "upgrade: websocket"));
  CHECK(has_line(answer, "connection: upgrade"));
  CHECK(body_of(answer) == "from the endpoint");
  CHECK(bench.endpoint().last().take_sent() == "early");
  client.arrive("more");
  bench.loop().turn();
  CHECK(bench.endpoint().last().take_sent() == "more");
  CHECK(bench.state().in_flight() == 1);
  client.peer_ends();
  bench.endpoint().last().peer_ends();
  bench.loop().turn();
  CHECK(client.closed());
  CHECK(bench.state().in_flight() == 0);
}

TEST_CASE("forward: a refused WebSocket is an ordinary answer") {
  ForwardBench bench;
  MemoryPeer& client = bench.client(handshake);
  bench.answer("HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno");
  const std::string answer = client.take_sent();
  CHECK(status_of(answer) == "403");
  CHECK(body_of(answer) == "no");
}

TEST_CASE("forward: a false handshake is refused before the endpoint sees it") {
  ForwardBench bench;
  std::string bad(handshake);
  bad.replace(bad.find("13\r\n"), 2, "8 ");
  MemoryPeer& client = bench.client(bad);
  CHECK(status_of(client.take_sent()) == "400");
  CHECK(bench.endpoint().dials == 0);
  CHECK(bench.fault() == Fault::upgrade_refused);
}

TEST_CASE("forward: requests take turns among the endpoints") {
  ForwardBench bench(pool_of({first_address, second_address}));
  for (int i = 0; i < 4; ++i) bench.client(ForwardBench::get);
  CHECK(bench.endpoint(first_address).dials == 2);
  CHECK(bench.endpoint(second_address).dials == 2);
}

}  // namespace
}  // namespace portico::tests
