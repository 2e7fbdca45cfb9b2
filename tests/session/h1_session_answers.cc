// H1Session: answers: framing, streaming, back-pressure, cuts, errors and slow readers.
#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include "tests/support/serve_fixture.h"

namespace portico::tests {
namespace {

using core::Fault;
using std::chrono::seconds;

const std::string get = "GET /a HTTP/1.1\r\nHost: x\r\n\r\n";
const std::string get10 = "GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n";

// What outlives the fixture's exchanges.
struct Script {
  BodyScript script;
};

// Answers with a body that the test feeds.
struct Scripted : Script, ServeFixture {
  explicit Scripted(std::optional<std::uint64_t> length = std::nullopt) {
    use([this, length](serve::Exchange& started) -> std::unique_ptr<serve::Task> {
      exchange = &started;
      http::ResponseHead head;
      head.length = length;
      started.respond(std::move(head), std::make_unique<ScriptedBody>(script));
      return nullptr;
    });
  }
  std::string turn(MemoryPeer& peer) {
    loop.turn();
    return peer.take_sent();
  }

  serve::Exchange* exchange = nullptr;
};

TEST_CASE("a body that is complete at once gets a Content-Length") {
  Scripted scripted;
  scripted.script.give("ab");
  scripted.script.give("cd");
  scripted.script.end();
  auto peer = scripted.connect();
  for (const std::string& request : {get, get10}) {
    scripted.script.parts = {"ab", "cd"};
    const std::string answer = scripted.ask(*peer, request);
    CHECK(has_line(answer, "content-length: 4"));
    CHECK_FALSE(has_field(answer, "transfer-encoding"));
    CHECK(body_of(answer) == "abcd");
    CHECK_FALSE(peer->closed());
  }
}

TEST_CASE("a body that comes later is chunked, and each part leaves at once") {
  Scripted scripted;
  auto peer = scripted.connect();
  const std::string head = scripted.ask(*peer, get);
  CHECK(has_line(head, "transfer-encoding: chunked"));
  CHECK_FALSE(has_field(head, "content-length"));
  CHECK(body_of(head).empty());
  scripted.script.give("hello");
  CHECK(scripted.turn(*peer) == "5\r\nhello\r\n");
  scripted.script.give("x");
  CHECK(scripted.turn(*peer) == "1\r\nx\r\n");
  scripted.script.end();
  CHECK(scripted.turn(*peer) == "0\r\n\r\n");
  CHECK(scripted.journal.last().trace.response_bytes == 6);
  CHECK_FALSE(peer->closed());
}

TEST_CASE("a head waits a moment for a body of known length, and leaves with it") {
  Scripted scripted(5);
  auto peer = scripted.connect();
  CHECK(scripted.ask(*peer, get).empty());
  scripted.script.give("hello");
  const std::string answer = scripted.turn(*peer);
  CHECK(has_line(answer, "content-length: 5"));
  CHECK(body_of(answer) == "hello");
}

TEST_CASE("a head whose body does not come leaves alone, after a moment and once") {
  Scripted scripted(5);
  auto peer = scripted.connect();
  scripted.ask(*peer, get);
  scripted.loop.pass(core::Loop::moment - std::chrono::microseconds(1));
  CHECK(peer->take_sent().empty());
  scripted.loop.pass(std::chrono::microseconds(1));
  const std::string head = peer->take_sent();
  CHECK(has_line(head, "content-length: 5"));
  CHECK(body_of(head).empty());
  scripted.script.give("he");
  CHECK(scripted.turn(*peer) == "he");
  scripted.script.give("llo");
  CHECK(scripted.turn(*peer) == "llo");
}

TEST_CASE("an answer that fails while its head waits is cut, as after its head") {
  Scripted scripted(5);
  auto peer = scripted.connect();
  scripted.ask(*peer, get);
  scripted.script.fail({Fault::response_cut, 0, "testing"});
  scripted.turn(*peer);
  CHECK(peer->closed());
  CHECK(scripted.journal.last().trace.error.fault == Fault::response_cut);
}

TEST_CASE("to HTTP/1.0 such a body ends with the connection") {
  Scripted scripted;
  auto peer = scripted.connect();
  const std::string head = scripted.ask(*peer, get10);
  CHECK_FALSE(has_field(head, "transfer-encoding"));
  CHECK_FALSE(has_field(head, "content-length"));
  CHECK(has_line(head, "connection: close"));
  scripted.script.give("hello");
  CHECK(scripted.turn(*peer) == "hello");
  scripted.script.end();
  scripted.loop.turn();
  CHECK(peer->send_ended());
  peer->peer_ends();
  scripted.loop.turn();
  CHECK(peer->closed());
  CHECK_FALSE(peer->closed_by_reset());
}

TEST_CASE("head and first pieces leave in one flush") {
  Scripted scripted(10);
  scripted.script.give("01234");
  scripted.script.give("56789");
  scripted.script.end();
  auto peer = scripted.connect();
  const auto before = peer->flushes();
  CHECK(body_of(scripted.ask(*peer, get)) == "0123456789");
  CHECK(peer->flushes() == before + 1);
}

TEST_CASE("trailers are sent to those who take them, behind a chunked body") {
  http::Headers trailers;
  trailers.add("Server-Timing", "t");
  for (const bool takes : {false, true}) {
    Scripted scripted;
    scripted.script.trailers = &trailers;
    scripted.script.give("abc");
    scripted.script.end();
    const std::string te = takes ? "TE: trailers\r\nConnection: TE\r\n" : "";
    const std::string answer = scripted.ask("GET /a HTTP/1.1\r\nHost: x\r\n" + te + "\r\n");
    if (takes) {
      CHECK(body_of(answer) == "3\r\nabc\r\n0\r\nServer-Timing: t\r\n\r\n");
    } else {
      CHECK(body_of(answer) == "abc");
    }
  }
}

TEST_CASE("a chunked body that fails is cut by a reset, without its last chunk") {
  Scripted scripted;
  auto peer = scripted.connect();
  scripted.script.give("hello");
  scripted.ask(*peer, get);
  scripted.script.fail({Fault::endpoint_reset, 0, "reading"});
  scripted.loop.turn();
  CHECK(peer->sent().empty());
  CHECK(peer->closed_by_reset());
  CHECK(scripted.journal.last().trace.error.fault == Fault::endpoint_reset);
  CHECK(scripted.journal.last().trace.status == 200);
  CHECK(scripted.script.destroyed);
}

TEST_CASE("a body shorter than its told length is cut by a reset") {
  Scripted scripted(10);
  auto peer = scripted.connect();
  scripted.script.give("hello");
  scripted.ask(*peer, get);
  scripted.script.end();
  scripted.loop.turn();
  CHECK(peer->closed_by_reset());
  CHECK(scripted.journal.last().trace.error.fault == Fault::response_cut);
}

TEST_CASE("a body longer than its told length is cut, and never stands where an answer begins") {
  Scripted scripted(3);
  auto peer = scripted.connect();
  scripted.script.give("hello");
  const std::string answer = scripted.ask(*peer, get + get);
  CHECK(body_of(answer).empty());
  CHECK(peer->closed_by_reset());
  CHECK(scripted.journal.heard.size() == 1);
}

TEST_CASE("a body that fails before the head went out becomes an error page") {
  Scripted scripted;
  scripted.script.fail({Fault::endpoint_reset, 0, "reading"});
  auto peer = scripted.connect();
  const std::string answer = scripted.ask(*peer, get);
  CHECK(status_of(answer) == "502");
  CHECK_FALSE(peer->closed());
}

TEST_CASE("fail() before and after the head") {
  ServeFixture fixture;
  fixture.use([](serve::Exchange& exchange) -> std::unique_ptr<serve::Task> {
    exchange.fail({Fault::no_endpoint, 0, "choosing"});
    exchange.fail({Fault::internal, 0, "again"});
    return nullptr;
  });
  auto peer = fixture.connect();
  CHECK(status_of(fixture.ask(*peer, get)) == "503");
  CHECK_FALSE(peer->closed());
  CHECK(fixture.journal.last().trace.error.fault == Fault::no_endpoint);

  Scripted scripted;
  auto other = scripted.connect();
  scripted.ask(*other, get);
  scripted.exchange->fail({Fault::worker_died, 0, "reading"});
  scripted.loop.turn();
  CHECK(other->closed_by_reset());
  CHECK(scripted.journal.last().trace.error.fault == Fault::worker_died);
}

TEST_CASE("fail() takes the place of an answer whose head is not out") {
  ServeFixture fixture;
  fixture.use([](serve::Exchange& exchange) -> std::unique_ptr<serve::Task> {
    answer_with(exchange, "fine");
    exchange.fail({Fault::internal, 0, "after all"});
    return nullptr;
  });
  CHECK(status_of(fixture.ask(get)) == "500");
}

TEST_CASE("only the first of two answers counts") {
  ServeFixture fixture;
  fixture.use([](serve::Exchange& exchange) -> std::unique_ptr<serve::Task> {
    answer_with(exchange, "one");
    answer_with(exchange, "two");
    return nullptr;
  });
  CHECK(body_of(fixture.ask(get)) == "one");
}

TEST_CASE("a head that cannot be written safely becomes 500 (RFC 9112 11.1)") {
  ServeFixture fixture;
  fixture.use([](serve::Exchange& exchange) -> std::unique_ptr<serve::Task> {
    http::ResponseHead head;
    head.fields.add("Location", "/x\r\nSet-Cookie: evil");
    exchange.respond(std::move(head), nullptr);
    return nullptr;
  });
  const std::string answer = fixture.ask(get);
  CHECK(status_of(answer) == "500");
  CHECK(answer.find("evil") == std::string::npos);
}

struct BadPages final : serve::ErrorPages {
  core::Slice page(const serve::Exchange&, const core::Error&,
                   http::ResponseHead& head) const override {
    head.fields.add("X", "\n");
    return core::Slice::literal("page");
  }
};

TEST_CASE("error pages come from the root; one that cannot be written cuts, and does not loop") {
  struct Pages final : serve::ErrorPages {
    core::Slice page(const serve::Exchange&, const core::Error& error,
                     http::ResponseHead& head) const override {
      head.fields.add("X-Cause", core::fault_info(error.fault).name);
      return core::Slice::literal("page");
    }
  } pages;
  ServeFixture fixture;
  fixture.root.pages = &pages;
  fixture.use([](serve::Exchange& exchange) -> std::unique_ptr<serve::Task> {
    exchange.fail({Fault::no_route, 0, "routing"});
    return nullptr;
  });
  const std::string answer = fixture.ask(get);
  CHECK(has_line(answer, "x-cause: no_route"));
  CHECK(body_of(answer) == "page");
  CHECK(body_of(fixture.ask("bad\r\n\r\n")) == "page");

  const BadPages bad;
  fixture.root.pages = &bad;
  fixture.renew();
  auto peer = fixture.connect();
  CHECK(fixture.ask(*peer, get).empty());
  CHECK(peer->closed());
}

TEST_CASE("1xx are passed on before the answer, in order, and not to HTTP/1.0") {
  serve::Exchange* waiting = nullptr;
  ServeFixture fixture;
  fixture.use([&waiting](serve::Exchange& exchange) -> std::unique_ptr<serve::Task> {
    waiting = &exchange;
    http::ResponseHead hints;
    hints.status = 103;
    hints.fields.add("Link", "</a.css>");
    exchange.inform(std::move(hints));
    return nullptr;
  });
  auto peer = fixture.connect();
  const std::string hints = fixture.ask(*peer, get);
  CHECK(hints.starts_with("HTTP/1.1 103 Early Hints\r\n"));
  CHECK_FALSE(has_field(hints, "content-length"));
  answer_with(*waiting, "body");
  waiting->inform({});  // too late
  fixture.loop.turn();
  CHECK(status_of(peer->take_sent()) == "200");
  auto old = fixture.connect();
  CHECK(fixture.ask(*old, get10).empty());
}

TEST_CASE("a client that does not read stops the pulling: bounded memory") {
  Scripted scripted;
  auto peer = scripted.connect();
  peer->limit_room(1000);
  for (int count = 0; count < 1000; ++count)
    scripted.script.parts.push_back(std::string(16384, 'x'));
  scripted.script.ended = true;
  scripted.ask(*peer, get);
  CHECK(scripted.script.pulled_bytes <= 96 * 1024);
  const auto first = scripted.script.pulled_bytes;
  peer->make_room(first - 20000);
  scripted.loop.turn();
  peer->take_sent();
  CHECK(scripted.script.pulled_bytes <= first + 48 * 1024);  // a slow one gets small steps
  peer->make_room(unlimited);
  scripted.loop.turn();
  CHECK(scripted.script.pulled_bytes == 1000 * 16384);
  CHECK(scripted.journal.last().trace.response_bytes == 1000 * 16384);
}

TEST_CASE("many clients that do not read hold little each") {
  std::vector<std::unique_ptr<BodyScript>> scripts;  // outlive the bodies
  ServeFixture fixture;
  fixture.use([&scripts](serve::Exchange& exchange) -> std::unique_ptr<serve::Task> {
    scripts.push_back(std::make_unique<BodyScript>());
    for (int part = 0; part < 4; ++part)
      scripts.back()->parts.push_back(std::string(128 << 10, 'x'));
    exchange.respond({}, std::make_unique<ScriptedBody>(*scripts.back()));
    return nullptr;
  });
  std::vector<std::unique_ptr<MemoryPeer>> peers;
  std::uint64_t held = 0;
  for (int client = 0; client < 500; ++client) {
    peers.push_back(fixture.connect());
    peers.back()->limit_room(0);
    fixture.ask(*peers.back(), get);
    held += scripts.back()->pulled_bytes;
  }
  CHECK(held <= (8u << 20) + (256u << 10) + 500 * (32u << 10));
  peers[0]->make_room(unlimited);
  fixture.loop.turn();
  CHECK(scripts[0]->pulled_bytes == 512 << 10);
}

TEST_CASE("a client that takes nothing is cut after the time to send") {
  Scripted scripted;
  auto peer = scripted.connect();
  peer->limit_room(1000);
  scripted.script.give(std::string(100000, 'x'));
  scripted.ask(*peer, get);
  scripted.loop.pass(seconds(119));
  CHECK_FALSE(peer->closed());
  scripted.loop.pass(seconds(1));
  CHECK(peer->closed_by_reset());
  CHECK(scripted.journal.last().trace.error.fault == Fault::send_timeout);
  CHECK(scripted.script.destroyed);
}

TEST_CASE("a slow reader above the least rate gets everything; one below is cut") {
  for (const bool fast_enough : {true, false}) {
    Scripted scripted;
    auto peer = scripted.connect();
    peer->limit_room(100);
    scripted.script.give(std::string(100000, 'x'));
    scripted.script.end();
    scripted.ask(*peer, get);
    for (int second = 0; second < 600 && !peer->closed(); ++second) {
      scripted.loop.pass(seconds(1));
      if (!peer->closed()) peer->make_room(fast_enough ? 200 : 20);
      scripted.loop.turn();
    }
    CHECK(peer->closed_by_reset() != fast_enough);
    CHECK((scripted.journal.last().trace.response_bytes == 100000) == fast_enough);
  }
}

TEST_CASE("an answer that comes slowly from its source is not held against the client") {
  Scripted scripted;
  auto peer = scripted.connect();
  scripted.ask(*peer, get);
  for (int count = 0; count < 10; ++count) {
    scripted.loop.pass(seconds(200));
    scripted.script.give("tick");
    CHECK(scripted.turn(*peer) == "4\r\ntick\r\n");
  }
}

TEST_CASE("all sizes arrive whole under a kernel that takes a little at a time") {
  for (const std::size_t size : {0u, 1u, 511u, 512u, 16383u, 16384u, 16385u, 70000u, 300000u}) {
    for (const std::size_t step : {1u, 7u, 4096u}) {
      if (step == 1 && size > 20000) continue;
      Scripted scripted;
      std::string body;
      for (std::size_t at = 0; at < size; ++at) body += static_cast<char>('a' + at % 23);
      if (size > 0) scripted.script.parts.push_back(body);
      scripted.script.ended = true;
      auto peer = scripted.connect();
      peer->be_stingy(step);
      const std::string answer = scripted.ask(*peer, get);
      const std::string got = body_of(answer);
      CHECK((has_field(answer, "content-length") ? got : unchunked(got)) == body);
      CHECK_FALSE(peer->closed());
    }
  }
}

TEST_CASE("the trace tells the times of an exchange") {
  Scripted scripted;
  auto peer = scripted.connect();
  scripted.ask(*peer, "GET /a HTTP/1.1\r\n");
  scripted.loop.pass(seconds(1));
  scripted.script.give("a");
  scripted.ask(*peer, "Host: x\r\n\r\n");
  scripted.loop.pass(seconds(2));
  scripted.script.end();
  scripted.loop.turn();
  const serve::Trace& trace = scripted.journal.last().trace;
  CHECK(trace.head_complete - trace.started == seconds(1));
  CHECK(trace.first_byte == trace.head_complete);
  CHECK(trace.ended - trace.started == seconds(3));
  CHECK(trace.status == 200);
  CHECK(trace.error.fault == Fault::none);
}

}  // namespace
}  // namespace portico::tests
