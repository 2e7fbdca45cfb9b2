// ResponseReader: what an endpoint may say, in every cut, and what is 502.
#include <catch2/catch.hpp>
#include <string>

#include "tests/unit/proxy/http/feeding.h"

namespace portico::http {
namespace {

using testing::disagreement;
using testing::Parts;
using testing::read_response;

void check(const std::string& message, const std::string& outcome, const char* method = "GET") {
  INFO(message);
  const auto read = [&](const Parts& parts) { return read_response(method, parts); };
  CHECK(read({message}) == outcome);
  CHECK(disagreement(message, read) == "");
}

void check_bad(const std::string& message) { check(message, "fail bad_response"); }

TEST_CASE("response: a plain one is read in every cut") {
  check("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-Y: z\r\n\r\nhi",
        "head HTTP/1.1 200  length 2 keep told=2\ncontent-length=2\nx-y=z\nrest=hi");
}

TEST_CASE("response: a reason that is not the standard one is kept; it may be missing") {
  check("HTTP/1.1 200 Fine\r\n\r\n", "head HTTP/1.1 200 Fine until_close close\nrest=");
  check("HTTP/1.1 200   OK \r\n\r\n", "head HTTP/1.1 200  until_close close\nrest=");
  check("HTTP/1.1 299 \r\n\r\n", "head HTTP/1.1 299  until_close close\nrest=");
  check("HTTP/1.0 404\r\n\r\n", "head HTTP/1.0 404  until_close close\nrest=");
}

TEST_CASE("response: bodies of HEAD, 1xx, 204 and 304 are none, whatever the fields say") {
  check("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n",
        "head HTTP/1.1 200  none keep told=5\ncontent-length=5\nrest=", "HEAD");
  check("HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n",
        "head HTTP/1.1 304  none keep told=5\ncontent-length=5\nrest=");
  check("HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n",
        "head HTTP/1.1 204  none keep\ntransfer-encoding=chunked\nrest=");
  check("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n",
        "head HTTP/1.1 100  none keep\nrest=HTTP/1.1 200 OK\r\n");
}

TEST_CASE("response: without length or chunks it lasts until the close, and nothing is kept") {
  check("HTTP/1.1 200 OK\r\nConnection: keep-alive\r\n\r\n",
        "head HTTP/1.1 200  until_close close\nconnection=keep-alive\nrest=");
}

TEST_CASE("response: an HTTP/1.0 endpoint keeps the connection only when it says so") {
  check("HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n",
        "head HTTP/1.0 200  length 0 close told=0\ncontent-length=0\nrest=");
  check("HTTP/1.0 200 OK\r\nContent-Length: 0\r\nConnection: Keep-Alive\r\n\r\n",
        "head HTTP/1.0 200  length 0 keep told=0\ncontent-length=0\nconnection=Keep-Alive\nrest=");
}

TEST_CASE("response: bad status lines are 502 (RFC 9112 §4)") {
  for (const char* line :
       {"HTTP/1.1  200 OK", "HTTP/1.1 20 OK", "HTTP/1.1 2000 OK", "HTTP/1.1 abc OK",
        "HTTP/1.1 099 OK", "HTTP/1.1", "HTTP/1.1 ", "HTTP/2.0 200 OK", "HTTP/1.2 200 OK",
        "http/1.1 200 OK", "ICY 200 OK", "HTTP/1.1\t200 OK", " HTTP/1.1 200 OK",
        "HTTP/1.1 200 a\rb", "HTTP/1.1 200 a\x01", "HTTP/1.1 200OK", "HTTP/1.1 +20 OK"}) {
    check_bad(std::string(line) + "\r\nContent-Length: 0\r\n\r\n");
  }
  check_bad("\r\nHTTP/1.1 200 OK\r\n\r\n");
}

TEST_CASE("response: folded, controlled and nameless fields are 502 (§5, §2.2)") {
  for (const char* lines :
       {"A: b\r\n c", "A : b", ": b", "A", "A: b\rc", "A: b\nC: d", "A: \x01", "A b: c"}) {
    check_bad("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n" + std::string(lines) + "\r\n\r\n");
  }
  check_bad("HTTP/1.1 200 OK\nContent-Length: 0\n\n");
}

TEST_CASE("response: doubtful framing is 502, also where there is no body (§6.3)") {
  for (const char* lines :
       {"Content-Length: 5\r\nTransfer-Encoding: chunked", "Content-Length: 5\r\nContent-Length: 5",
        "Content-Length: 5, 5", "Content-Length: -1", "Content-Length: ", "Content-Length: 0x5",
        "Transfer-Encoding: gzip", "Transfer-Encoding: gzip, chunked",
        "Transfer-Encoding: chunked, chunked", "Transfer-Encoding: identity",
        "Content-Length: 99999999999999999999"}) {
    check_bad("HTTP/1.1 200 OK\r\n" + std::string(lines) + "\r\n\r\n");
    check_bad("HTTP/1.1 304 Not Modified\r\n" + std::string(lines) + "\r\n\r\n");
  }
  check_bad("HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
}

TEST_CASE("response: what can never become one fails before its line has ended") {
  CHECK(read_response("GET", {"220 mail.example ESMTP"}) == "fail bad_response");
  CHECK(read_response("GET", {"H", "TTX"}) == "fail bad_response");
  CHECK(read_response("GET", {"HTTP/1.1 2x0 OK\r\n"}) == "fail bad_response");
  CHECK(read_response("GET", {"HTTP/1"}) == "more");
}

TEST_CASE("response: its head is limited in bytes and fields, in every cut") {
  const std::string message = "HTTP/1.1 200 OK\r\nA: b\r\nC: d\r\n\r\nbody";
  ReadLimits limits;
  const auto read = [&](const Parts& parts) { return read_response("GET", parts, limits); };
  limits.header_bytes = static_cast<std::uint32_t>(message.size() - 4);
  CHECK(read({message}).substr(0, 4) == "head");
  CHECK(disagreement(message, read) == "");
  --limits.header_bytes;
  CHECK(read({message}) == "fail response_too_large");
  CHECK(disagreement(message, read) == "");
  limits = {};
  limits.header_fields = 1;
  CHECK(read({message}) == "fail response_too_large");
  CHECK(disagreement(message, read) == "");
}

TEST_CASE("response: one reader reads informational heads and the final one") {
  ResponseReader reader{ReadLimits()};
  ReceivedHead received;
  core::Slice input = core::Slice::copy(
      "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: "
      "1\r\n\r\nx");
  REQUIRE(reader.feed(input, "GET", received) == Progress::head);
  CHECK(received.head.status == 103);
  REQUIRE(reader.feed(input, "GET", received) == Progress::head);
  CHECK(received.head.status == 201);
  CHECK(received.head.fields.size() == 1);
  CHECK(input.view() == "x");
}

}  // namespace
}  // namespace portico::http
