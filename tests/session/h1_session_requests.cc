// H1Session: keep-alive, versions, pipelining, heads and how answers are framed.
#include <catch2/catch.hpp>

#include <string>

#include "tests/support/serve_fixture.h"

namespace portico::tests {
namespace {

using core::Fault;

const std::string get = "GET /a HTTP/1.1\r\nHost: x.example\r\n\r\n";

TEST_CASE("an HTTP/1.1 request is answered and the connection kept (RFC 9112 9.3)") {
  ServeFixture fixture;
  auto peer = fixture.connect();
  const std::string first = fixture.ask(*peer, get);
  CHECK(first.starts_with("HTTP/1.1 200 OK\r\n"));
  CHECK(has_line(first, "content-length: 6"));
  CHECK(has_field(first, "date"));
  CHECK_FALSE(has_field(first, "connection"));
  CHECK_FALSE(has_field(first, "server"));
  CHECK(body_of(first) == "GET /a");
  CHECK(body_of(fixture.ask(*peer, get)) == "GET /a");
  CHECK_FALSE(peer->closed());
  CHECK(fixture.journal.heard.size() == 2);
  CHECK(fixture.server.counters().open == 1);
  CHECK(fixture.server.counters().idle == 1);
  CHECK(fixture.server.counters().exchanges == 0);
  CHECK(fixture.server.counters().served == 2);
}

TEST_CASE("Connection: close is obeyed and said (RFC 9112 9.6)") {
  ServeFixture fixture;
  auto peer = fixture.connect();
  const std::string answer =
      fixture.ask(*peer, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  CHECK(has_line(answer, "connection: close"));
  CHECK(peer->closed());
  CHECK_FALSE(peer->closed_by_reset());
  CHECK(fixture.server.counters().open == 0);
}

TEST_CASE("HTTP/1.0 closes unless keep-alive is asked for") {
  ServeFixture fixture;
  auto closing = fixture.connect();
  CHECK(has_line(fixture.ask(*closing, "GET / HTTP/1.0\r\n\r\n"), "connection: close"));
  CHECK(closing->closed());

  auto keeping = fixture.connect();
  const std::string ask = "GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n";
  CHECK(has_line(fixture.ask(*keeping, ask), "connection: keep-alive"));
  CHECK_FALSE(keeping->closed());
  CHECK(body_of(fixture.ask(*keeping, ask)) == "GET /");
}

TEST_CASE("after a close the rest is ignored (RFC 9112 9.6)") {
  ServeFixture fixture;
  auto peer = fixture.connect();
  const std::string answer =
      fixture.ask(*peer, "GET /1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n" + get);
  CHECK(count(answer, "HTTP/1.1 200") == 1);
  CHECK(fixture.journal.heard.size() == 1);
}

TEST_CASE("pipelined requests are answered in order (RFC 9112 9.3.2)") {
  ServeFixture fixture;
  std::string all;
  for (int at = 0; at < 200; ++at)
    all += "GET /" + std::to_string(at) + " HTTP/1.1\r\nHost: x\r\n\r\n";
  const std::string answers = fixture.ask(all);
  CHECK(count(answers, "HTTP/1.1 200 OK") == 200);
  std::size_t place = 0;
  for (int at = 0; at < 200 && place != std::string::npos; ++at)
    place = answers.find("\r\n\r\nGET /" + std::to_string(at), place);
  CHECK(place != std::string::npos);
}

TEST_CASE("a slow request holds up those behind it, and they are not even parsed") {
  ServeFixture fixture;
  serve::Exchange* waiting = nullptr;
  fixture.use([&](serve::Exchange& exchange) -> std::unique_ptr<serve::Task> {
    if (exchange.request().target != "/slow") return answer_target(exchange);
    waiting = &exchange;
    return nullptr;
  });
  auto peer = fixture.connect();
  std::string all = "GET /slow HTTP/1.1\r\nHost: x\r\n\r\n";
  for (int at = 0; at < 10000; ++at) all += get;
  CHECK(fixture.ask(*peer, all).empty());
  CHECK(peer->unread() > all.size() - 128 * 1024);  // what was read ahead is bounded
  CHECK(fixture.server.counters().exchanges == 1);
  answer_with(*waiting, "slow");
  fixture.loop.turn();
  const std::string answers = peer->take_sent();
  CHECK(count(answers, "HTTP/1.1 200") == 10001);
  CHECK(body_of(answers).starts_with("slow"));
}

TEST_CASE("a request is understood in all splits and byte by byte") {
  const std::string request =
      "POST /p HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
      "3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n" +
      get;
  for (std::size_t cut = 1; cut < request.size(); ++cut) {
    ServeFixture fixture;
    fixture.use(echo);
    auto peer = fixture.connect();
    std::string answers = fixture.ask(*peer, request.substr(0, cut));
    answers += fixture.ask(*peer, request.substr(cut));
    CHECK(count(answers, "HTTP/1.1 200") == 2);
    CHECK(answers.find("\r\n\r\nabcdeHTTP/1.1 200") != std::string::npos);
  }
  ServeFixture fixture;
  fixture.use(echo);
  auto peer = fixture.connect();
  peer->be_stingy();
  const std::string answers = fixture.ask(*peer, request);
  INFO(answers << " unread " << peer->unread());
  CHECK(answers.find("\r\n\r\nabcdeHTTP/1.1 200") != std::string::npos);
}

TEST_CASE("one CRLF before a request line is ignored (RFC 9112 2.2)") {
  ServeFixture fixture;
  auto peer = fixture.connect();
  CHECK(fixture.ask(*peer, "\r\n").empty());
  CHECK(fixture.journal.heard.empty());
  CHECK(body_of(fixture.ask(*peer, get)) == "GET /a");
  CHECK(fixture.ask(*peer, "\r").empty());
  CHECK(body_of(fixture.ask(*peer, "\n" + get)) == "GET /a");
}

TEST_CASE("HEAD tells the length and sends no body (RFC 9110 9.3.2)") {
  ServeFixture fixture;
  auto peer = fixture.connect();
  const std::string answer = fixture.ask(*peer, "HEAD /a HTTP/1.1\r\nHost: x\r\n\r\n");
  CHECK(has_line(answer, "content-length: 7"));
  CHECK(body_of(answer).empty());
  CHECK(body_of(fixture.ask(*peer, get)) == "GET /a");
}

TEST_CASE("204 and 304 have no body, whatever the handler gives (RFC 9112 6.3)") {
  for (const int status : {204, 304}) {
    ServeFixture fixture;
    fixture.use([status](serve::Exchange& exchange) -> std::unique_ptr<serve::Task> {
      answer_with(exchange, "must not appear", status);
      return nullptr;
    });
    auto peer = fixture.connect();
    const std::string answer = fixture.ask(*peer, get);
    CHECK(status_of(answer) == std::to_string(status));
    CHECK(body_of(answer).empty());
    CHECK_FALSE(has_field(answer, "transfer-encoding"));
    CHECK(has_field(answer, "content-length") == (status == 304));
    CHECK_FALSE(peer->closed());
  }
}

TEST_CASE("OPTIONS * is the handler's like any other; TRACE and CONNECT are refused") {
  ServeFixture fixture;
  http::Target::Form form{};
  fixture.use([&form](serve::Exchange& exchange) {
    form = exchange.request().where.form;
    return answer_target(exchange);
  });
  CHECK(status_of(fixture.ask("OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n")) == "200");
  CHECK(form == http::Target::Form::asterisk);

  const std::string trace = fixture.ask("TRACE / HTTP/1.1\r\nHost: x\r\n\r\n");
  CHECK(status_of(trace) == std::to_string(core::fault_info(Fault::method_refused).status));
  CHECK(fixture.journal.last().trace.error.fault == Fault::method_refused);

  const std::string connect = fixture.ask("CONNECT x:80 HTTP/1.1\r\nHost: x:80\r\n\r\n");
  CHECK(status_of(connect) == std::to_string(core::fault_info(Fault::method_refused).status));
}

TEST_CASE("an absolute target is accepted, and its authority wins (RFC 9112 3.2.2)") {
  ServeFixture fixture;
  std::string host;
  fixture.use([&host](serve::Exchange& exchange) {
    host = exchange.request().where.host;
    return answer_target(exchange);
  });
  CHECK(status_of(fixture.ask("GET http://a.example/x HTTP/1.1\r\nHost: b.example\r\n\r\n")) ==
        "200");
  CHECK(host == "a.example");
}

TEST_CASE("a head that is refused gets its status, a journal line and the end of the connection") {
  struct Row {
    std::string request;
    std::string status;
    Fault fault;
  };
  const std::vector<Row> rows = {
      {"nonsense\r\n\r\n", "400", Fault::bad_request_line},
      {"GET  / HTTP/1.1\r\nHost: x\r\n\r\n", "400", Fault::bad_request_line},
      {"GET / HTTP/2.5\r\nHost: x\r\n\r\n", "505", Fault::bad_version},
      {"GET / HTTP/1.1\r\n\r\n", "400", Fault::bad_host},
      {"GET / HTTP/1.1\r\nHost: x\r\nA : b\r\n\r\n", "400", Fault::bad_field},
      {"GET / HTTP/1.1\nHost: x\n\n", "400", Fault::bad_request_line},
      {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\nabc",
       "400", Fault::bad_framing},
      {"POST / HTTP/1.0\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n", "400",
       Fault::bad_framing},
      {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: +5\r\n\r\n", "400", Fault::bad_framing},
      {"GET / HTTP/1.1\r\nHost: x\r\nExpect: 200-maybe\r\n\r\n", "417", Fault::bad_expectation},
      {"GET /" + std::string(9000, 'a') + " HTTP/1.1\r\nHost: x\r\n\r\n", "414",
       Fault::target_too_long},
      {"GET / HTTP/1.1\r\nHost: x\r\nA: " + std::string(33000, 'a') + "\r\n\r\n", "431",
       Fault::head_too_large},
  };
  for (const Row& row : rows) {
    ServeFixture fixture;
    bool started = false;
    fixture.use([&started](serve::Exchange& exchange) {
      started = true;
      return answer_target(exchange);
    });
    auto peer = fixture.connect();
    const std::string answer = fixture.ask(*peer, row.request + get);
    INFO(row.request.substr(0, 60));
    CHECK(status_of(answer) == row.status);
    CHECK(has_line(answer, "connection: close"));
    CHECK(count(answer, "\r\nDate:") == 1);
    CHECK_FALSE(started);
    REQUIRE(fixture.journal.heard.size() == 1);
    CHECK(fixture.journal.last().trace.error.fault == row.fault);
    CHECK(fixture.journal.last().trace.status == std::stoi(row.status));
    CHECK(fixture.server.counters().open == 0);
  }
}

TEST_CASE("the limits of the head are those of the root, and the newest root's") {
  ServeFixture fixture;
  auto peer = fixture.connect();
  CHECK(status_of(fixture.ask(*peer, get)) == "200");
  fixture.root.head.header_bytes = 30;
  fixture.renew();
  CHECK(status_of(fixture.ask(*peer, get)) == "431");
}

TEST_CASE("a head that is not complete in time gets 408, counted from its first byte") {
  ServeFixture fixture;
  auto peer = fixture.connect();
  fixture.ask(*peer, get);
  fixture.loop.pass(std::chrono::seconds(30));
  CHECK(fixture.ask(*peer, "GET / HT").empty());
  for (int second = 0; second < 9; ++second) {
    fixture.loop.pass(std::chrono::seconds(1));
    CHECK(fixture.ask(*peer, "T").empty());
  }
  fixture.loop.pass(std::chrono::seconds(1));
  const std::string answer = peer->take_sent();
  CHECK(status_of(answer) == "408");
  CHECK(has_line(answer, "connection: close"));
  CHECK(fixture.journal.last().trace.error.fault == Fault::header_timeout);
  CHECK(fixture.server.counters().open == 0);
}

TEST_CASE("a connection that carries nothing is closed without a word") {
  ServeFixture fixture;
  auto silent = fixture.connect();
  auto kept = fixture.connect();
  fixture.ask(*kept, get);
  fixture.loop.pass(std::chrono::seconds(11));  // the header's time, for a first byte
  CHECK(silent->closed());
  CHECK(silent->sent().empty());
  CHECK_FALSE(kept->closed());
  fixture.loop.pass(std::chrono::seconds(50));  // idle time
  CHECK(kept->closed());
  CHECK(kept->sent().empty());
  CHECK(fixture.journal.heard.size() == 1);
}

TEST_CASE("the idle time is that of the latest exchange's route") {
  ServeFixture fixture;
  fixture.use([](serve::Exchange& exchange) {
    exchange.limits().idle_wait = std::chrono::seconds(5);
    return answer_target(exchange);
  });
  auto peer = fixture.connect();
  fixture.ask(*peer, get);
  fixture.loop.pass(std::chrono::seconds(4));
  CHECK_FALSE(peer->closed());
  fixture.loop.pass(std::chrono::seconds(1));
  CHECK(peer->closed());
}

TEST_CASE("an exchange keeps the root that it began with") {
  ServeFixture fixture;
  serve::Exchange* waiting = nullptr;
  auto token = std::make_shared<int>(1);
  fixture.use([&waiting, token](serve::Exchange& exchange) -> std::unique_ptr<serve::Task> {
    waiting = &exchange;
    return nullptr;
  });
  auto peer = fixture.connect();
  fixture.ask(*peer, get);
  fixture.use(answer_target);
  CHECK(token.use_count() > 1);  // the old handler lives on
  answer_with(*waiting, "old");
  fixture.loop.turn();
  CHECK(body_of(peer->take_sent()) == "old");
  CHECK(token.use_count() == 1);
  CHECK(body_of(fixture.ask(*peer, get)) == "GET /a");
}

TEST_CASE("Date and X-Request-ID: one of each, the handler's date in any case is kept") {
  ServeFixture fixture;
  fixture.use([](serve::Exchange& exchange) -> std::unique_ptr<serve::Task> {
    exchange.trace().request_id = core::Slice::literal("id-1");
    http::ResponseHead head;
    head.fields.add("DATE", "Sun, 06 Nov 1994 08:49:37 GMT");
    head.fields.add("x-Request-Id", "theirs");
    exchange.respond(std::move(head), nullptr);
    return nullptr;
  });
  const std::string answer = fixture.ask(get);
  CHECK(has_line(answer, "date: Sun, 06 Nov 1994 08:49:37 GMT"));
  CHECK(has_line(answer, "x-request-id: id-1"));
  CHECK(count(core::lower_copy(answer), "\r\ndate:") == 1);
  CHECK(count(core::lower_copy(answer), "\r\nx-request-id:") == 1);
  CHECK(has_line(answer, "content-length: 0"));
}

}  // namespace
}  // namespace portico::tests
