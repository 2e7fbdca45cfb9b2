// What is written: one framing field, no control character, and back through the readers.
#include "proxy/http/h1_write.h"

#include <catch2/catch.hpp>
#include <string>

#include "proxy/http/hop.h"
#include "tests/unit/proxy/http/feeding.h"

namespace portico::http {
namespace {

using Kind = Framing::Kind;

std::string written_request(std::string_view method, std::string_view target, const Headers& fields,
                            const Framing& framing, Connection connection = Connection::keep) {
  core::Buffer out;
  const auto done = write_request_head(out, method, target, fields, framing, connection);
  if (done) return std::string(out.view());
  CHECK(out.empty());
  return testing::fault_name(done.error().fault);
}

std::string written_response(const ResponseHead& head, const Framing& framing,
                             Connection connection = Connection::keep,
                             Version version = Version::http11) {
  core::Buffer out;
  const auto done = write_response_head(out, head, framing, connection, version);
  return done ? std::string(out.view()) : testing::fault_name(done.error().fault);
}

Headers one(std::string_view name, std::string_view value) {
  Headers fields;
  fields.add(name, value);
  return fields;
}

TEST_CASE("write: a request has its fields and exactly one framing field") {
  CHECK(written_request("GET", "/a?b", one("host", "h"), {}) ==
        "GET /a?b HTTP/1.1\r\nhost: h\r\n\r\n");
  CHECK(written_request("PUT", "/", one("Host", "h"), {Kind::length, 12}, Connection::close) ==
        "PUT / HTTP/1.1\r\nHost: h\r\ncontent-length: 12\r\nconnection: close\r\n\r\n");
  CHECK(written_request("POST", "/", Headers(), {Kind::chunked, 0}) ==
        "POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n");
}

TEST_CASE("write: methods that expect a body say that there is none (RFC 9110 §8.6)") {
  CHECK(written_request("POST", "/", Headers(), {}) ==
        "POST / HTTP/1.1\r\ncontent-length: 0\r\n\r\n");
  CHECK(written_request("DELETE", "/", Headers(), {}) == "DELETE / HTTP/1.1\r\n\r\n");
}

TEST_CASE("write: fields of framing and connection in the model are left out, in any case") {
  for (const char* name : {"Content-Length", "transfer-encoding", "CONNECTION", "Keep-Alive",
                           "proxy-connection", "Upgrade"}) {
    CHECK(written_request("GET", "/", one(name, "x"), {}) == "GET / HTTP/1.1\r\n\r\n");
  }
  CHECK(written_request("GET", "/", one("Upgrade", "websocket"), {}, Connection::upgrade) ==
        "GET / HTTP/1.1\r\nUpgrade: websocket\r\nconnection: upgrade\r\n\r\n");
}

TEST_CASE("write: nothing that could split a message ever leaves (RFC 9112 §11.1)") {
  for (int c = 0; c < 0x20; ++c) {
    if (c == '\t') continue;
    const std::string value = "12345678" + std::string(1, static_cast<char>(c)) + "b";
    CHECK(written_request("GET", "/", one("x", value), {}) == "internal");
  }
  for (const char* name : {"", "a b", "a:", "a\r\nb", "\x80", "a\n"}) {
    CHECK(written_request("GET", "/", one(name, "x"), {}) == "internal");
  }
  for (const char* value : {" a", "a ", "\ta", "a\x7f"}) {
    CHECK(written_request("GET", "/", one("x", value), {}) == "internal");
  }
  for (const char* target : {"", "/a b", "/\r\n", "/\xc3\xa4", "/#"}) {
    CHECK(written_request("GET", target, Headers(), {}) == "internal");
  }
  CHECK(written_request("G T", "/", Headers(), {}) == "internal");
  ResponseHead head;
  head.fields.add("location", "/a\r\nset-cookie: b");
  CHECK(written_response(head, {}) == "internal");
}

TEST_CASE("write: a response's status line says HTTP/1.1, with a reason that is safe") {
  ResponseHead head;
  head.status = 404;
  CHECK(written_response(head, {Kind::length, 0}) ==
        "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n");
  head.reason = "Gone Fishing";
  CHECK(written_response(head, {Kind::length, 0}) ==
        "HTTP/1.1 404 Gone Fishing\r\ncontent-length: 0\r\n\r\n");
  head.reason = "a\r\nb";
  CHECK(written_response(head, {Kind::length, 0}) ==
        "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n");
  head.status = 99;
  CHECK(written_response(head, {}) == "internal");
  head.status = 1000;
  CHECK(written_response(head, {}) == "internal");
}

TEST_CASE("write: the length of what has no body is told where that is allowed") {
  ResponseHead head;
  head.length = 7;
  CHECK(written_response(head, {}) == "HTTP/1.1 200 OK\r\ncontent-length: 7\r\n\r\n");
  head.status = 204;
  CHECK(written_response(head, {}) == "HTTP/1.1 204 No Content\r\n\r\n");
  head.status = 103;
  CHECK(written_response(head, {}) == "HTTP/1.1 103 Early Hints\r\n\r\n");
  head.status = 304;
  CHECK(written_response(head, {}) == "HTTP/1.1 304 Not Modified\r\ncontent-length: 7\r\n\r\n");
  head.status = 200;
  head.length = 9;
  CHECK(written_response(head, {Kind::length, 7}) ==
        "HTTP/1.1 200 OK\r\ncontent-length: 7\r\n\r\n");
}

TEST_CASE("write: what is said of the connection depends on the client's version") {
  const ResponseHead head;
  const Framing empty{Kind::length, 0};
  const std::string start = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n";
  CHECK(written_response(head, empty, Connection::keep, Version::http10) ==
        start + "connection: keep-alive\r\n\r\n");
  CHECK(written_response(head, empty, Connection::close, Version::http10) ==
        start + "connection: close\r\n\r\n");
  CHECK(written_response(head, {Kind::until_close, 0}, Connection::close) ==
        "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n");
}

TEST_CASE("write: a head stands behind what the buffer holds, in less than a block") {
  core::Buffer out(core::block_bytes);
  out.append("before");
  REQUIRE(write_response_head(out, ResponseHead(), {Kind::length, 0}, Connection::keep,
                              Version::http11));
  CHECK(out.view().substr(0, 21) == "beforeHTTP/1.1 200 OK");
}

TEST_CASE("write: parse, write, parse is the identity, for requests") {
  for (const char* message :
       {"GET /a?b HTTP/1.1\r\nhost: h\r\naccept: */*\r\ncookie: a=b\r\ncookie: c=d\r\n\r\n",
        "POST / HTTP/1.1\r\nhost: h:81\r\ncontent-length: 0\r\n\r\n",
        "PUT /x HTTP/1.1\r\nhost: [::1]\r\ncontent-length: 12345678901\r\n\r\n",
        "PATCH / HTTP/1.1\r\nhost: h\r\nempty:\r\nhigh: \x80\xff\r\ntransfer-encoding: "
        "chunked\r\n\r\n",
        "OPTIONS * HTTP/1.1\r\nhost: h\r\nx: a\tb\r\nconnection: close\r\n\r\n"}) {
    RequestReader reader{ReadLimits()};
    RequestHead head;
    core::Slice input = core::Slice::copy(message);
    REQUIRE(reader.feed(input, head) == Progress::head);
    const Connection connection = head.keep_alive ? Connection::keep : Connection::close;
    const std::string text =
        written_request(head.method, head.target, head.fields, head.framing, connection);
    CHECK(testing::read_request({text}) == testing::read_request({message}));
  }
}

TEST_CASE("write: parse, write, parse is the identity, for responses") {
  for (const char* message : {"HTTP/1.1 200 OK\r\nserver: s\r\nset-cookie: a\r\nset-cookie: "
                              "b\r\ncontent-length: 5\r\n\r\n",
                              "HTTP/1.1 500 Oh No\r\nx:\r\ntransfer-encoding: chunked\r\n\r\n",
                              "HTTP/1.1 304 Not Modified\r\ncontent-length: 5\r\n\r\n",
                              "HTTP/1.1 200 OK\r\nx: y\r\nconnection: close\r\n\r\n"}) {
    ResponseReader reader{ReadLimits()};
    ReceivedHead received;
    core::Slice input = core::Slice::copy(message);
    REQUIRE(reader.feed(input, "GET", received) == Progress::head);
    const Connection connection = received.keep_alive ? Connection::keep : Connection::close;
    const std::string text = written_response(received.head, received.framing, connection);
    CHECK(testing::read_response("GET", {text}) == testing::read_response("GET", {message}));
  }
}

}  // namespace
}  // namespace portico::http
