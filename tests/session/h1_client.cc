// H1Client over a memory transport: requests as they are sent, responses in all splits, interim
// responses, upgrades.
#include <catch2/catch.hpp>

#include "proxy/core/piece.h"
#include "tests/support/client_bench.h"

namespace portico::tests {
namespace {

using core::Fault;

struct Answer {
  std::string bytes;
  int status;
  std::string body;
  bool by_close = false;
};

const Answer answers[] = {
    {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", 200, "hello"},
    {"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", 404, ""},
    {"HTTP/1.1 204 No Content\r\n\r\n", 204, ""},
    {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\n\r\n",
     200, "hello"},
    {"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n"
     "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
     200, "ok"},
    {"HTTP/1.0 200 OK\r\n\r\nuntil the end", 200, "until the end", true},
};

void check_answer(const Asker& asker, const Answer& answer) {
  REQUIRE(asker.head);
  CHECK(asker.head->status == answer.status);
  CHECK(asker.body == answer.body);
  CHECK(asker.ended);
  CHECK(asker.error.fault == Fault::none);
}

TEST_CASE("h1_client: a request is sent with one head and no framing where it has no body") {
  ClientBench bench;
  MemoryPeer peer;
  Asker asker(bench.loop);
  bench.fields.add("accept", "*/*");
  client::Request request = bench.request();
  request.target = "/a?b=c";
  asker.ask(bench.open(peer), request);
  CHECK(peer.take_sent() == "GET /a?b=c HTTP/1.1\r\nhost: a.example\r\naccept: */*\r\n\r\n");
  CHECK(peer.flushes() == 1);
}

TEST_CASE("h1_client: a body of known length goes out as it is, in one flush with its head") {
  ClientBench bench;
  MemoryPeer peer;
  Asker asker(bench.loop);
  FedBody body;
  body.feed("hello");
  body.end();
  asker.ask(bench.open(peer), bench.upload(body, 5));
  CHECK(peer.take_sent() == "POST / HTTP/1.1\r\nhost: a.example\r\ncontent-length: 5\r\n\r\nhello");
  CHECK(peer.flushes() == 1);
}

TEST_CASE("h1_client: a body of unknown length is chunked, its trailers stand behind it") {
  ClientBench bench;
  MemoryPeer peer;
  Asker asker(bench.loop);
  FedBody body;
  http::Headers trailers;
  trailers.add("digest", "x");
  body.trailers = &trailers;
  body.feed("hello");
  asker.ask(bench.open(peer), bench.upload(body, std::nullopt));
  CHECK(peer.take_sent() ==
        "POST / HTTP/1.1\r\nhost: a.example\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n");
  body.feed(std::string(26, 'x'));
  body.end();
  bench.loop.turn();
  CHECK(peer.take_sent() == "1a\r\n" + std::string(26, 'x') + "\r\n0\r\ndigest: x\r\n\r\n");
}

TEST_CASE("h1_client: POST without a body says so (RFC 9110 §8.6)") {
  ClientBench bench;
  MemoryPeer peer;
  Asker asker(bench.loop);
  asker.ask(bench.open(peer), bench.request("POST"));
  CHECK(peer.take_sent() == "POST / HTTP/1.1\r\nhost: a.example\r\ncontent-length: 0\r\n\r\n");
}

TEST_CASE("h1_client: a value that cannot be written safely fails before a byte is sent") {
  ClientBench bench;
  MemoryPeer peer;
  Asker asker(bench.loop);
  bench.fields.add("x-evil", "a\r\nb: c");
  asker.ask(bench.open(peer), bench.request());
  bench.loop.turn();
  CHECK(asker.error.fault == Fault::internal);
  CHECK(peer.sent().empty());
}

TEST_CASE("h1_client: a response in every two-way split is the same response") {
  for (const Answer& answer : answers) {
    for (std::size_t cut = 0; cut <= answer.bytes.size(); ++cut) {
      CAPTURE(answer.bytes, cut);
      ClientBench bench;
      MemoryPeer peer;
      Asker asker(bench.loop);
      asker.ask(bench.open(peer), bench.request());
      peer.arrive(answer.bytes.substr(0, cut));
      bench.loop.turn();
      peer.arrive(answer.bytes.substr(cut));
      if (answer.by_close) peer.peer_ends();
      bench.loop.turn();
      check_answer(asker, answer);
    }
  }
}

TEST_CASE("h1_client: a response byte by byte, with EAGAIN between, is the same response") {
  for (const Answer& answer : answers) {
    CAPTURE(answer.bytes);
    ClientBench bench;
    MemoryPeer peer;
    peer.be_stingy();
    Asker asker(bench.loop);
    asker.room = 1;
    asker.ask(bench.open(peer), bench.request());
    bench.loop.turn();
    peer.arrive(answer.bytes);
    if (answer.by_close) peer.peer_ends();
    bench.loop.turn();
    check_answer(asker, answer);
    CHECK(peer.take_sent() == "GET / HTTP/1.1\r\nhost: a.example\r\n\r\n");
  }
}

TEST_CASE("h1_client: a large upload to a stingy endpoint arrives whole, pulled as it goes") {
  ClientBench bench;
  MemoryPeer peer;
  peer.accept_per_flush(1000);
  Asker asker(bench.loop);
  FedBody body;
  const std::string bytes(300'000, 'u');
  body.feed(bytes);
  body.end();
  asker.ask(bench.open(peer), bench.upload(body, bytes.size()));
  bench.loop.turn();
  const std::string sent = peer.take_sent();
  CHECK(sent.substr(sent.find("\r\n\r\n") + 4) == bytes);
}

TEST_CASE("h1_client: an endpoint that takes nothing holds the pulling back") {
  ClientBench bench;
  MemoryPeer peer;
  peer.limit_room(100);
  Asker asker(bench.loop);
  FedBody body;
  body.feed(std::string(10'000'000, 'u'));
  asker.ask(bench.open(peer), bench.upload(body, 10'000'000));
  bench.loop.turn();
  CHECK(body.pulls <= 2);
}

TEST_CASE("h1_client: a reader that does not pull is the back-pressure") {
  ClientBench bench;
  MemoryPeer peer;
  Asker asker(bench.loop);
  asker.pulls = false;
  asker.ask(bench.open(peer), bench.request());
  peer.arrive("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n");
  bench.loop.turn();
  peer.arrive(std::string(1'000'000, 'x'));
  bench.loop.turn();
  CHECK(peer.unread() > 900'000);
  asker.pulls = true;
  asker.wake();
  bench.loop.turn();
  CHECK(asker.body.size() == 1'000'000);
}

TEST_CASE("h1_client: HEAD, 204 and 304 have no body, whatever their length says") {
  struct Row {
    std::string_view method, head;
  };
  const Row rows[] = {{"HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 1234\r\n\r\n"},
                      {"GET", "HTTP/1.1 304 Not Modified\r\nContent-Length: 1234\r\n\r\n"},
                      {"GET", "HTTP/1.1 204 No Content\r\n\r\n"}};
  for (const Row& row : rows) {
    CAPTURE(row.head);
    ClientBench bench;
    MemoryPeer peer;
    Asker asker(bench.loop);
    asker.ask(bench.open(peer), bench.request(row.method));
    peer.arrive(row.head);
    bench.loop.turn();
    CHECK(asker.ended);
    CHECK(asker.body.empty());
    CHECK(bench.idle() == 1);
  }
}

TEST_CASE("h1_client: interim responses are told, but for 100, and capped") {
  ClientBench bench;
  MemoryPeer peer;
  Asker asker(bench.loop);
  asker.ask(bench.open(peer), bench.request());
  for (const char* head : {"HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 102 Processing\r\n\r\n",
                           "HTTP/1.1 103 Early Hints\r\n\r\n"})
    peer.arrive(head);
  bench.loop.turn();
  CHECK(asker.interim == std::vector<int>{102, 103});
  for (int i = 0; i < 200; ++i) peer.arrive("HTTP/1.1 102 Processing\r\n\r\n");
  bench.loop.turn();
  CHECK(asker.error.fault == Fault::bad_response);
  CHECK(asker.interim.size() <= 100);
  CHECK(peer.closed());
}

// The handshake of RFC 6455 §1.3.
void ask_for_websocket(http::RequestHead& head) {
  head.method = "GET";
  head.fields.add("connection", "Upgrade");
  head.fields.add("upgrade", "websocket");
  head.fields.add("sec-websocket-version", "13");
  head.fields.add("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ==");
}

constexpr std::string_view switching =
    "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n";

TEST_CASE("h1_client: a valid 101 hands the connection over, with what came behind it") {
  ClientBench bench;
  MemoryPeer peer;
  Asker asker(bench.loop);
  http::RequestHead head;
  ask_for_websocket(head);
  bench.fields.add("upgrade", "websocket");
  client::Request request = bench.request();
  request.upgrade = &head;
  asker.ask(bench.open(peer), request);
  CHECK(peer.take_sent() ==
        "GET / HTTP/1.1\r\nhost: a.example\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n");
  peer.arrive(std::string(switching) + "frame");
  bench.loop.turn();
  REQUIRE(asker.upgraded);
  net::Arrival arrival = asker.upgraded->read(3);
  CHECK(bytes_of(arrival.piece) == "fra");
  CHECK(bytes_of(asker.upgraded->read(10).piece) == "me");
  CHECK(asker.upgraded->read(10).flow == core::Flow::wait);
  asker.upgraded->send(core::Slice::literal("back"));
  asker.upgraded->flush();
  CHECK(peer.take_sent() == "back");
  CHECK(bench.idle() == 0);
}

TEST_CASE("h1_client: a 101 nobody asked for, or with the wrong accept value, is a bad response") {
  for (const bool asked : {false, true}) {
    ClientBench bench;
    MemoryPeer peer;
    Asker asker(bench.loop);
    http::RequestHead head;
    ask_for_websocket(head);
    client::Request request = bench.request();
    if (asked) request.upgrade = &head;
    asker.ask(bench.open(peer), request);
    std::string bytes(switching);
    if (asked) bytes[bytes.find("s3pP")] = 'S';
    peer.arrive(bytes);
    bench.loop.turn();
    CHECK(asker.error.fault == Fault::bad_response);
    CHECK(peer.closed());
  }
}

TEST_CASE("h1_client: any other status than 101 leaves ordinary framing") {
  ClientBench bench;
  MemoryPeer peer;
  Asker asker(bench.loop);
  http::RequestHead head;
  ask_for_websocket(head);
  client::Request request = bench.request();
  request.upgrade = &head;
  asker.ask(bench.open(peer), request);
  peer.arrive("HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno");
  bench.loop.turn();
  CHECK(asker.head->status == 403);
  CHECK(asker.body == "no");
  CHECK(asker.ended);
}

TEST_CASE("h1_client: trailers come only where they are wanted, and only harmless ones") {
  for (const bool wanted : {false, true}) {
    ClientBench bench;
    MemoryPeer peer;
    Asker asker(bench.loop);
    client::Request request = bench.request();
    request.takes_trailers = wanted;
    asker.ask(bench.open(peer), request);
    peer.arrive(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n"
        "Digest: d\r\nSet-Cookie: a=b\r\nContent-Length: 3\r\n\r\n");
    bench.loop.turn();
    CHECK(asker.ended);
    CHECK(asker.trailers ==
          (wanted ? std::vector<std::string>{"digest: d"} : std::vector<std::string>()));
    CHECK(bench.idle() == 1);
  }
}

TEST_CASE("h1_client: long plain stretches may come as pipes, short and framed bytes may not") {
  struct Row {
    std::string head, body_head, body_tail;
    std::size_t size;
  };
  const Row rows[] = {
      {"HTTP/1.1 200 OK\r\nContent-Length: 300000\r\n\r\n", "", "", 300'000},
      {"HTTP/1.0 200 OK\r\n\r\n", "", "", 300'000},
      {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "493e0\r\n", "\r\n0\r\n\r\n",
       300'000},
  };
  for (const Row& row : rows) {
    CAPTURE(row.head);
    ClientBench bench;
    MemoryPeer peer;
    peer.use_pipes();
    peer.read_at_most(30'000);
    Asker asker(bench.loop);
    asker.ask(bench.open(peer), bench.request());
    peer.arrive(row.head);
    bench.loop.turn();
    peer.arrive(row.body_head + std::string(row.size, 'p') + row.body_tail);
    if (row.head.find("1.0") != std::string::npos) peer.peer_ends();
    bench.loop.turn();
    CHECK(asker.body == std::string(row.size, 'p'));
    CHECK(asker.ended);
  }
}

}  // namespace
}  // namespace portico::tests
