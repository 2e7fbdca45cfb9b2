// H1Session: request bodies: length and chunked, 100 Continue, limits, pace, and what is left
// unread.
#include <catch2/catch.hpp>

#include <string>

#include "tests/support/serve_fixture.h"

namespace portico::tests {
namespace {

using core::Fault;
using std::chrono::seconds;

const std::string get = "GET /next HTTP/1.1\r\nHost: x\r\n\r\n";

std::string post(std::size_t length, const std::string& more = {}) {
  return "POST /p HTTP/1.1\r\nHost: x\r\nContent-Length: " + std::to_string(length) + "\r\n" +
         more + "\r\n";
}
const std::string chunked_post =
    "POST /p HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";

// Takes the request and keeps it: the test pulls and answers by hand.
class Puller final : public core::Active {
 public:
  explicit Puller(core::Loop& loop) : core::Active(loop) {}
  void advance() override { ++woken; }
  int woken = 0;
};

struct ByHand : ServeFixture {
  ByHand() {
    use([this](serve::Exchange& started) -> std::unique_ptr<serve::Task> {
      exchange = &started;
      return nullptr;
    });
  }
  http::Pull pull(std::size_t room = 1 << 20) {
    return exchange->request_body().pull(room, puller);
  }

  serve::Exchange* exchange = nullptr;
  Puller puller{loop};
};

TEST_CASE("a body of a length is read to its last byte and no further") {
  ServeFixture fixture;
  fixture.use(echo);
  auto peer = fixture.connect();
  const std::string answers = fixture.ask(*peer, post(5) + "hello" + post(0) + post(3) + "abc");
  CHECK(answers.find("\r\n\r\nhelloHTTP/1.1 200") != std::string::npos);
  CHECK(body_of(answers.substr(answers.rfind("HTTP/1.1"))) == "abc");
  CHECK(fixture.journal.heard.size() == 3);
  CHECK(fixture.journal.heard[0].trace.request_bytes == 5);
  CHECK(fixture.journal.heard[0].trace.response_bytes == 5);
}

TEST_CASE("every method's body is framed by its fields (RFC 9112 6)") {
  for (const std::string method : {"GET", "DELETE", "OPTIONS", "PUT"}) {
    ServeFixture fixture;
    fixture.use(echo);
    const std::string answers =
        fixture.ask(method + " / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nbody" + get);
    CHECK(answers.find("\r\n\r\nbodyHTTP/1.1 200") != std::string::npos);
  }
}

TEST_CASE("nothing of a body is read before it is pulled: back-pressure") {
  ByHand by_hand;
  auto peer = by_hand.connect();
  by_hand.ask(*peer, post(1 << 20));
  REQUIRE(by_hand.exchange != nullptr);
  by_hand.ask(*peer, std::string(1 << 20, 'b'));
  CHECK(peer->unread() == 1 << 20);
  const http::Pull pulled = by_hand.pull(1000);
  REQUIRE(pulled.flow == core::Flow::data);
  CHECK(core::length(pulled.piece) == 1000);
  by_hand.loop.turn();
  CHECK(peer->unread() >= (1 << 20) - 128 * 1024);
}

TEST_CASE("a reader that waits is woken when bytes arrive, and once") {
  ByHand by_hand;
  auto peer = by_hand.connect();
  by_hand.ask(*peer, post(6));
  CHECK(by_hand.pull().flow == core::Flow::wait);
  by_hand.loop.turn();
  CHECK(by_hand.puller.woken == 0);
  by_hand.ask(*peer, "abc");
  CHECK(by_hand.puller.woken == 1);
  by_hand.ask(*peer, "def");
  CHECK(by_hand.puller.woken == 1);
  CHECK(std::get<core::Slice>(by_hand.pull().piece).view() == "abc");
  CHECK(std::get<core::Slice>(by_hand.pull().piece).view() == "def");
  CHECK(by_hand.pull().flow == core::Flow::end);
  CHECK(by_hand.pull().flow == core::Flow::end);
}

TEST_CASE("Expect: 100-continue is answered at the first pull (RFC 9110 10.1.1)") {
  ByHand by_hand;
  auto peer = by_hand.connect();
  CHECK(by_hand.ask(*peer, post(3, "Expect: 100-continue\r\n")).empty());
  CHECK(by_hand.pull().flow == core::Flow::wait);
  by_hand.loop.turn();
  CHECK(peer->take_sent() == "HTTP/1.1 100 Continue\r\n\r\n");
  by_hand.ask(*peer, "abc");
  CHECK(by_hand.pull().flow == core::Flow::data);
  answer_with(*by_hand.exchange, "done");
  by_hand.loop.turn();
  CHECK(peer->take_sent().starts_with("HTTP/1.1 200"));
  CHECK_FALSE(peer->closed());
}

TEST_CASE("no 100 Continue when the body comes unasked, and none to HTTP/1.0") {
  ServeFixture fixture;
  fixture.use(echo);
  CHECK(fixture.ask(post(3, "Expect: 100-continue\r\n") + "abc").starts_with("HTTP/1.1 200"));
  auto old = fixture.connect();
  CHECK(fixture.ask(*old, "POST / HTTP/1.0\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n")
            .empty());
  CHECK(fixture.ask(*old, "abc").starts_with("HTTP/1.1 200"));
}

TEST_CASE("a final answer before the 100 Continue ends the connection") {
  ServeFixture fixture;
  auto peer = fixture.connect();
  const std::string answer = fixture.ask(*peer, post(3, "Expect: 100-continue\r\n"));
  CHECK(status_of(answer) == "200");
  CHECK(has_line(answer, "connection: close"));
  CHECK(fixture.ask(*peer, "abc" + get).empty());
  CHECK(fixture.journal.heard.size() == 1);
}

TEST_CASE("a small unread body is drained and the connection kept") {
  ServeFixture fixture;
  auto peer = fixture.connect();
  const std::string answer = fixture.ask(*peer, post(1000));
  CHECK(status_of(answer) == "200");
  CHECK_FALSE(has_field(answer, "connection"));
  CHECK(fixture.journal.heard.size() == 1);  // it has ended; only the body is awaited
  CHECK(fixture.ask(*peer, std::string(999, 'x')).empty());
  CHECK(body_of(fixture.ask(*peer, "x" + get)) == "GET /next");
  CHECK(fixture.journal.heard.size() == 2);
  CHECK(fixture.server.counters().served == 2);
}

TEST_CASE("a chunked unread body is drained likewise, up to a limit") {
  ServeFixture fixture;
  auto peer = fixture.connect();
  CHECK(status_of(fixture.ask(*peer, chunked_post + "3\r\nabc\r\n")) == "200");
  CHECK(body_of(fixture.ask(*peer, "0\r\n\r\n" + get)) == "GET /next");

  auto endless = fixture.connect();
  CHECK(status_of(fixture.ask(*endless, chunked_post)) == "200");
  for (int count = 0; count < 20; ++count)
    fixture.ask(*endless, "2000\r\n" + std::string(0x2000, 'x') + "\r\n");
  CHECK(endless->send_ended());
  CHECK(fixture.ask(*endless, "0\r\n\r\n" + get).empty());
}

TEST_CASE("a large unread body: Connection: close, and the rest is discarded without a reset") {
  ServeFixture fixture;
  auto peer = fixture.connect();
  const std::string answer = fixture.ask(*peer, post(1 << 20) + std::string(1000, 'x'));
  CHECK(status_of(answer) == "200");
  CHECK(has_line(answer, "connection: close"));
  CHECK(peer->send_ended());
  CHECK_FALSE(peer->closed());  // lingers, so that the client can read the answer
  CHECK(fixture.server.counters().open == 0);
  fixture.ask(*peer, std::string(1000, 'x'));
  CHECK(peer->unread() == 0);
  peer->peer_ends();
  fixture.loop.turn();
  CHECK(peer->closed());
  CHECK_FALSE(peer->closed_by_reset());
}

TEST_CASE("a drain that takes too long ends the connection") {
  ServeFixture fixture;
  auto peer = fixture.connect();
  fixture.ask(*peer, post(1000));
  fixture.loop.pass(seconds(31));
  CHECK(peer->send_ended());
}

TEST_CASE("a body over the limit is 413 by its length, before a byte is read") {
  ServeFixture fixture;
  fixture.use(echo);
  fixture.root.limits.body_bytes = 10;
  fixture.renew();
  auto peer = fixture.connect();
  const std::string answer = fixture.ask(*peer, post(11, "Expect: 100-continue\r\n"));
  CHECK(status_of(answer) == "413");
  CHECK(has_line(answer, "connection: close"));
  CHECK(fixture.journal.last().trace.error.fault == Fault::body_too_large);
  CHECK(body_of(fixture.ask(post(10) + "0123456789")) == "0123456789");
}

TEST_CASE("a chunked body over the limit is 413 when it gets there") {
  ServeFixture fixture;
  fixture.use(echo);
  fixture.root.limits.body_bytes = 10;
  fixture.renew();
  auto peer = fixture.connect();
  CHECK(fixture.ask(*peer, chunked_post + "8\r\n01234567\r\n").empty());
  const std::string answer = fixture.ask(*peer, "3\r\n89a\r\n0\r\n\r\n");
  CHECK(status_of(answer) == "413");
  CHECK(peer->send_ended());
}

TEST_CASE("declares_too_much tells a router before a task starts") {
  ServeFixture fixture;
  fixture.use([](serve::Exchange& exchange) -> std::unique_ptr<serve::Task> {
    exchange.limits().body_bytes = 3;
    if (serve::declares_too_much(exchange)) exchange.fail({Fault::body_too_large, 0, "routing"});
    return serve::declares_too_much(exchange) ? nullptr : echo(exchange);
  });
  CHECK(status_of(fixture.ask(post(4) + "abcd")) == "413");
  CHECK(body_of(fixture.ask(post(3) + "abc")) == "abc");
}

TEST_CASE("a bad chunk is 400 and the end of the connection (RFC 9112 7.1)") {
  for (const std::string bad : {"0x3\r\nabc\r\n", "3\r\nabcd\r\n", "3\nabc\r\n", "zz\r\n",
                                "11111111111111111\r\n", "3 \r\nabc\r\n", "+3\r\nabc\r\n"}) {
    ServeFixture fixture;
    fixture.use(echo);
    auto peer = fixture.connect();
    const std::string answer = fixture.ask(*peer, chunked_post + bad + "0\r\n\r\n" + get);
    INFO(bad);
    CHECK(status_of(answer) == "400");
    CHECK(has_line(answer, "connection: close"));
    CHECK(fixture.journal.heard.size() == 1);
    CHECK(fixture.journal.last().trace.error.fault == Fault::bad_chunk);
  }
}

TEST_CASE("trailers come with the end, without those that could do harm (RFC 9110 6.5.1)") {
  ByHand by_hand;
  auto peer = by_hand.connect();
  by_hand.ask(
      *peer,
      chunked_post + "1\r\na\r\n0\r\nHost: evil\r\nContent-Length: 9\r\nServer-Timing: t\r\n\r\n");
  CHECK(by_hand.pull().flow == core::Flow::data);
  const http::Pull end = by_hand.pull();
  REQUIRE(end.flow == core::Flow::end);
  REQUIRE(end.trailers != nullptr);
  CHECK_FALSE(end.trailers->has("host"));
  CHECK_FALSE(end.trailers->has("content-length"));
  CHECK(end.trailers->has("server-timing"));
  CHECK(by_hand.exchange->request().where.host == "x");
}

TEST_CASE("a body that comes too slowly is 408, however evenly it trickles") {
  ServeFixture fixture;
  fixture.use(echo);
  auto peer = fixture.connect();
  fixture.ask(*peer, post(10000));
  for (int second = 0; second < 29; ++second) {
    fixture.loop.pass(seconds(1));
    CHECK(fixture.ask(*peer, "x").empty());
  }
  fixture.loop.pass(seconds(2));
  const std::string answer = peer->take_sent();
  CHECK(status_of(answer) == "408");
  CHECK(has_line(answer, "connection: close"));
  CHECK(fixture.journal.last().trace.error.fault == Fault::body_timeout);
}

TEST_CASE("a body at the least rate goes through, however long it takes") {
  ServeFixture fixture;
  fixture.use(echo);
  auto peer = fixture.connect();
  fixture.ask(*peer, post(70 * 300));
  for (int second = 0; second < 299; ++second) {
    fixture.loop.pass(seconds(1));
    CHECK(fixture.ask(*peer, std::string(70, 'x')).empty());
  }
  CHECK(status_of(fixture.ask(*peer, std::string(70, 'x'))) == "200");
}

TEST_CASE("time in which nobody reads the body is not held against the client") {
  ByHand by_hand;
  auto peer = by_hand.connect();
  by_hand.ask(*peer, post(10));
  CHECK(by_hand.pull().flow == core::Flow::wait);
  by_hand.ask(*peer, "abc");
  by_hand.loop.pass(seconds(100));  // the application is busy
  CHECK(by_hand.pull().flow == core::Flow::data);
  CHECK(by_hand.pull().flow == core::Flow::wait);
  by_hand.loop.pass(seconds(20));
  by_hand.ask(*peer, "defghij");
  CHECK(by_hand.pull().flow == core::Flow::data);
  CHECK(by_hand.pull().flow == core::Flow::end);
}

TEST_CASE("a relay of request to answer loses no byte under 1-byte reads and writes") {
  for (const std::size_t size : {std::size_t{1}, std::size_t{100}, std::size_t{5000}}) {
    ServeFixture fixture;
    fixture.use([](serve::Exchange& exchange) -> std::unique_ptr<serve::Task> {
      exchange.respond({}, std::make_unique<RequestAsBody>(exchange.request_body()));
      return nullptr;
    });
    auto peer = fixture.connect();
    peer->be_stingy();
    std::string body;
    for (std::size_t at = 0; at < size; ++at) body += static_cast<char>('a' + at % 26);
    std::string answer = fixture.ask(*peer, post(size) + body + get);
    const auto second = answer.rfind("HTTP/1.1 200");
    REQUIRE(second != 0);
    CHECK(body_of(answer.substr(0, second)) != "?");
    const std::string first_body = body_of(answer.substr(0, second));
    CHECK((first_body == body || unchunked(first_body) == body));
  }
}

TEST_CASE("a large body goes through a relay in bounded steps") {
  ServeFixture fixture;
  fixture.root.limits.body_bytes = 1u << 30;
  fixture.use([](serve::Exchange& exchange) -> std::unique_ptr<serve::Task> {
    exchange.respond({}, std::make_unique<RequestAsBody>(exchange.request_body()));
    return nullptr;
  });
  auto peer = fixture.connect();
  const std::string body(8 << 20, 'z');
  const std::string answer = fixture.ask(*peer, post(body.size()) + body);
  CHECK(unchunked(body_of(answer)) == body);
}

}  // namespace
}  // namespace portico::tests
