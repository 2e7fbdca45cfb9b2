// RequestReader: every row of "HTTP/1 framing" that a request head can break, in every cut.
#include <catch2/catch.hpp>
#include <string>

#include "tests/unit/proxy/http/feeding.h"

namespace portico::http {
namespace {

using testing::disagreement;
using testing::Parts;
using testing::read_request;

/// A request that is right but for what stands in it.
std::string with_field(std::string_view line) {
  return "POST /p HTTP/1.1\r\nHost: a.example\r\n" + std::string(line) + "\r\nX: y\r\n\r\n";
}

std::string with_start(std::string_view line) {
  return std::string(line) + "\r\nHost: a.example\r\n\r\n";
}

void check_fault(const std::string& message, const std::string& fault) {
  INFO(message);
  CHECK(read_request({message}) == "fail " + fault);
  CHECK(disagreement(message, [](const Parts& parts) { return read_request(parts); }) == "");
}

void check_head(const std::string& message, const std::string& head) {
  INFO(message);
  CHECK(read_request({message}) == head);
  CHECK(disagreement(message, [](const Parts& parts) { return read_request(parts); }) == "");
}

TEST_CASE("request: a plain GET is read in every cut, names lower-cased, values trimmed") {
  check_head("GET /a?b=c HTTP/1.1\r\nHost: A.Example:80\r\nX-One:  \t two \t\r\nEMPTY:\r\n\r\n",
             "head GET /a?b=c HTTP/1.1 host=a.example:80 raw=/a query=b=c none keep"
             "\nhost=A.Example:80\nx-one=two\nempty=\nrest=");
}

TEST_CASE("request: what follows the head is left in the input (pipelining, RFC 9112 §9.3.2)") {
  check_head("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabcGET /",
             "head POST / HTTP/1.1 host=a:0 raw=/ query= length 3 keep"
             "\nhost=a\ncontent-length=3\nrest=abcGET /");
}

TEST_CASE("request: one reader reads one head after the other") {
  RequestReader reader{ReadLimits()};
  RequestHead head;
  core::Slice input = core::Slice::copy(
      "GET /1 HTTP/1.1\r\nHost: a\r\n\r\n\r\nGET /2 HTTP/1.0\r\n\r\nGET /3 HTTP/1.1\r\nHo");
  REQUIRE(reader.feed(input, head) == Progress::head);
  CHECK(head.target == "/1");
  REQUIRE(reader.feed(input, head) == Progress::head);
  CHECK(head.target == "/2");
  CHECK_FALSE(head.keep_alive);
  CHECK(head.fields.empty());
  REQUIRE(reader.feed(input, head) == Progress::more);
  CHECK(input.empty());
  CHECK(reader.started());
  core::Slice rest = core::Slice::copy("st: b\r\n\r\n");
  REQUIRE(reader.feed(rest, head) == Progress::head);
  CHECK(head.target == "/3");
  CHECK(head.where.host == "b");
  CHECK_FALSE(reader.started());
}

TEST_CASE("request: the fields of a head in one slice are views of it; of one in parts, a copy") {
  RequestReader reader{ReadLimits()};
  RequestHead head;
  core::Slice whole = core::Slice::copy("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  const char* bytes = whole.data();
  REQUIRE(reader.feed(whole, head) == Progress::head);
  CHECK(head.fields.find("host")->data() == bytes + 22);
  core::Slice first = core::Slice::copy("GET / HTTP/1.1\r\n");
  core::Slice second = core::Slice::copy("Host: b\r\n\r\n");
  REQUIRE(reader.feed(first, head) == Progress::more);
  CHECK(head.method.empty());
  REQUIRE(reader.feed(second, head) == Progress::head);
  first = second = {};
  CHECK(*head.fields.find("host") == "b");
}

TEST_CASE("request: a failed head keeps what was understood, for the log") {
  RequestHead head;
  {
    RequestReader reader{ReadLimits()};
    core::Slice first = core::Slice::copy("GET /secret HTTP/1.1\r\nHost: a\r\n");
    core::Slice second = core::Slice::copy("bad line\r\n\r\n");
    REQUIRE(reader.feed(first, head) == Progress::more);
    REQUIRE(reader.feed(second, head) == Progress::fail);
    CHECK(reader.error().doing == "reading the request head");
  }
  CHECK(head.method == "GET");
  CHECK(head.target == "/secret");
}

TEST_CASE("request: at most one CRLF before it is ignored (RFC 9112 §2.2)") {
  const std::string get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
  check_head("\r\n" + get, "head GET / HTTP/1.1 host=a:0 raw=/ query= none keep\nhost=a\nrest=");
  check_fault("\r\n\r\n" + get, "bad_request_line");
  check_fault("\n" + get, "bad_request_line");
  check_fault("\r" + get, "bad_request_line");
  check_fault(" " + get, "bad_request_line");
}

TEST_CASE("request: an idle reader, also behind a stray CRLF, has not started") {
  RequestReader reader{ReadLimits()};
  RequestHead head;
  core::Slice input = core::Slice::copy("\r\n");
  CHECK(reader.feed(input, head) == Progress::more);
  CHECK(input.empty());
  CHECK_FALSE(reader.started());
}

TEST_CASE("request line: single SP, a token, a visible target, HTTP/1.0 or 1.1 (RFC 9112 §3)") {
  for (const char* line : {"GET  / HTTP/1.1",
                           "GET / HTTP/1.1 ",
                           "GET /  HTTP/1.1",
                           " GET / HTTP/1.1",
                           "GET\t/ HTTP/1.1",
                           "GET /\tHTTP/1.1",
                           "GET /a\tb HTTP/1.1",
                           "GET /a b HTTP/1.1",
                           "GET /",
                           "GET / ",
                           "GET",
                           "G(T / HTTP/1.1",
                           "GET / http/1.1",
                           "GET / HTTP/1",
                           "GET / HTTP/1.1x",
                           "GET / HTTP/11",
                           "GET / HTTP/1,1",
                           "GET / XTTP/1.1",
                           "GET / HTTP/ 1.1",
                           "GET / HTTP/1.1\r",
                           "GET /\r HTTP/1.1",
                           "GET /\x01 HTTP/1.1",
                           "GET /\x7f HTTP/1.1",
                           "G\xc3\x84T / HTTP/1.1",
                           "GET:/ / HTTP/1.1",
                           "\"GET\" / HTTP/1.1"}) {
    check_fault(with_start(line), "bad_request_line");
  }
  check_fault(with_start(std::string_view("GET /\0 HTTP/1.1", 15)), "bad_request_line");
}

TEST_CASE("request line: other versions are 505") {
  for (const char* line :
       {"GET / HTTP/1.2", "GET / HTTP/0.9", "GET / HTTP/2.0", "GET / HTTP/9.9"}) {
    check_fault(with_start(line), "bad_version");
  }
  check_fault("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "bad_version");
}

TEST_CASE("request line: what can never become HTTP fails before its line has ended") {
  CHECK(read_request({std::string_view("\x16\x03\x01\x02", 4)}) == "fail bad_request_line");
  CHECK(read_request({"SSH-2.0-x@y"}) == "fail bad_request_line");
  CHECK(read_request({"GE", "T / FTP/1.1\r\n"}) == "fail bad_request_line");
  CHECK(read_request({std::string(33, 'A')}) == "fail method_refused");
  CHECK(read_request({"GET / HTTP/1.1\r\nHost: a\r\nX: y\n"}) == "fail bad_field");
}

TEST_CASE("request line: a method of more than 32 bytes and CONNECT are refused with 501") {
  check_fault(with_start(std::string(33, 'M') + " / HTTP/1.1"), "method_refused");
  check_fault("CONNECT a.example:443 HTTP/1.1\r\nHost: a.example\r\n\r\n", "method_refused");
  CHECK(read_request({with_start(std::string(32, 'M') + " / HTTP/1.1")}).substr(0, 6) == "head M");
}

TEST_CASE("request: the method's case is kept") {
  CHECK(read_request({with_start("get / HTTP/1.1")}).substr(0, 10) == "head get /");
}

TEST_CASE("request: bytes that no URI holds are refused in a target") {
  for (const char* target : {"/a#b", "/a\\b",  "/a\"b", "/<", "/>",       "/a|b",    "/{",
                             "/^",   "/`",     "/\x80", "/[", "/?a#b",    "/?\\",    "/?\"",
                             "/?<",  "/?\xff", "a",     "*a", "ftp://h/", "http:/a", "//\\"}) {
    check_fault(with_start("GET " + std::string(target) + " HTTP/1.1"), "bad_target");
  }
}

TEST_CASE("request: the target may have as many bytes as its limit, not more (414)") {
  ReadLimits limits;
  limits.target_bytes = 10;
  CHECK(read_request({with_start("GET /123456789 HTTP/1.1")}, limits).substr(0, 6) == "head G");
  CHECK(read_request({with_start("GET /1234567890 HTTP/1.1")}, limits) == "fail target_too_long");
}

TEST_CASE("request: the head may have as many bytes as its limit, not more (431), in every cut") {
  const std::string message = "GET / HTTP/1.1\r\nHost: a\r\nX: 12345\r\n\r\nrest";
  ReadLimits limits;
  const auto read = [&](const Parts& parts) { return read_request(parts, limits); };
  limits.header_bytes = static_cast<std::uint32_t>(message.size() - 4);
  CHECK(read({message}).substr(0, 6) == "head G");
  CHECK(disagreement(message, read) == "");
  --limits.header_bytes;
  CHECK(read({message}) == "fail head_too_large");
  CHECK(disagreement(message, read) == "");
  limits.header_bytes = 10;  // within the request line
  CHECK(read({message}) == "fail target_too_long");
  CHECK(disagreement(message, read) == "");
}

TEST_CASE("request: a head without an end stops at the limit, whatever arrives") {
  ReadLimits limits;
  limits.header_bytes = 100;
  RequestReader reader(limits);
  RequestHead head;
  core::Slice start = core::Slice::copy("GET / HTTP/1.1\r\n");
  REQUIRE(reader.feed(start, head) == Progress::more);
  std::size_t fed = 16;
  Progress progress = Progress::more;
  while (progress == Progress::more && fed < 1000) {
    core::Slice drop = core::Slice::copy("a");
    progress = reader.feed(drop, head);
    ++fed;
  }
  CHECK(fed == 100);
  CHECK(reader.error().fault == core::Fault::head_too_large);
}

TEST_CASE("request: the number of fields is limited (431)") {
  ReadLimits limits;
  limits.header_fields = 2;
  CHECK(read_request({"GET / HTTP/1.1\r\nHost: a\r\nB: c\r\n\r\n"}, limits).substr(0, 4) == "head");
  CHECK(read_request({"GET / HTTP/1.1\r\nHost: a\r\nB: c\r\nD: e\r\n\r\n"}, limits) ==
        "fail head_too_large");
}

TEST_CASE("field: blanks before the colon, folding, empty and odd names are refused (§5)") {
  for (const char* line : {"A : b", "A\t: b", " A: b", "\tA: b", ": b", "A", "A b: c", "A(b: c",
                           "A\x80: c", "A/b: c", "A[: b", "A\x7f: b", "A\x01: b", "\"A\": b"}) {
    check_fault(with_field(line), "bad_field");
  }
  check_fault(with_field("A: b\r\n c"), "bad_field");
  check_fault(with_field("A: b\r\n\tc"), "bad_field");
  check_fault("GET / HTTP/1.1\r\n Host: a\r\n\r\n", "bad_field");  // before the first field
}

TEST_CASE("field: bare CR, bare LF, NUL and other controls are refused (§2.2, RFC 9110 §5.5)") {
  check_fault(with_field("A: b\rc"), "bad_field");
  check_fault(with_field("A: b\r\r"), "bad_field");
  check_fault(with_field("\rA: b"), "bad_field");
  check_fault(with_field("A: b\nC: d"), "bad_field");
  check_fault("GET / HTTP/1.1\nHost: a\n\n", "bad_request_line");
  check_fault("GET / HTTP/1.1\r\nHost: a\r\n\n", "bad_field");
  check_fault("GET / HTTP/1.1\r\nHost: a\n\r\n", "bad_field");
  for (int c = 0; c < 0x20; ++c) {
    if (c == '\t' || c == '\n' || c == '\r') continue;
    check_fault(with_field("A: 12345678" + std::string(1, static_cast<char>(c)) + "b"),
                "bad_field");
    check_fault(with_field("A: " + std::string(1, static_cast<char>(c))), "bad_field");
  }
  check_fault(with_field("A: 1234\x7f"
                         "567"),
              "bad_field");
}

TEST_CASE("field: what is no list and stands twice is refused (RFC 9110 §5.3)") {
  check_fault(with_field("Content-Type: a\r\nX: y\r\ncontent-type: a"), "bad_field");
  check_fault(with_field("Authorization: a\r\nAuthorization: b"), "bad_field");
}

TEST_CASE("field: tabs and bytes of 0x80 and above pass in values") {
  const std::string head = read_request({with_field("A: b\tc \x80\xff")});
  CHECK(head.find("\na=b\tc \x80\xff\n") != std::string::npos);
}

TEST_CASE("host: exactly one; HTTP/1.0 may lack it (RFC 9112 §3.2)") {
  check_fault("GET / HTTP/1.1\r\n\r\n", "bad_host");
  check_fault("GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", "bad_host");
  check_fault("GET / HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n", "bad_host");
  check_fault("GET / HTTP/1.1\r\nHost:\r\n\r\n", "bad_host");
  check_fault("GET / HTTP/1.1\r\nHost: a, b\r\n\r\n", "bad_host");
  check_fault("GET / HTTP/1.1\r\nHost: u@a\r\n\r\n", "bad_host");
  check_fault("GET http://a/ HTTP/1.1\r\n\r\n", "bad_host");
  check_fault("GET http://a/ HTTP/1.1\r\nHost: a b\r\n\r\n", "bad_host");
  check_head("GET / HTTP/1.0\r\n\r\n",
             "head GET / HTTP/1.0 host=:0 raw=/ query= none close\nrest=");
}

TEST_CASE("host: an absolute target's authority wins and replaces the field (§3.2.2)") {
  check_head("GET http://B.example:81/x?y HTTP/1.1\r\nA: 1\r\nHost: a.example\r\n\r\n",
             "head GET http://B.example:81/x?y HTTP/1.1 host=b.example:81 raw=/x query=y none keep"
             "\na=1\nhost=B.example:81\nrest=");
  check_head("GET http://b/ HTTP/1.0\r\n\r\n",
             "head GET http://b/ HTTP/1.0 host=b:0 raw=/ query= none close\nhost=b\nrest=");
}

TEST_CASE("framing: whatever the method, a body is where the fields say (RFC 9112 §6)") {
  for (const char* method : {"GET", "HEAD", "OPTIONS", "DELETE", "POST"}) {
    const std::string head = std::string(method) + " / HTTP/1.1\r\nHost: a\r\n";
    CHECK(read_request({head + "Content-Length: 5\r\n\r\n"}).find("length 5") != std::string::npos);
    CHECK(read_request({head + "Transfer-Encoding: chunked\r\n\r\n"}).find(" chunked ") !=
          std::string::npos);
  }
}

TEST_CASE("framing: doubtful lengths and codings end the connection") {
  check_fault(with_field("Content-Length: 5\r\nTransfer-Encoding: chunked"), "bad_framing");
  check_fault(with_field("Transfer-Encoding: chunked\r\nContent-Length: 5"), "bad_framing");
  check_fault(with_field("Transfer-Encoding: xchunked"), "bad_framing");
  check_fault(with_field("Transfer-Encoding: gzip, chunked"), "unsupported_coding");
  check_fault(with_field("Content-Length: +5"), "bad_framing");
  check_fault("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", "bad_framing");
}

TEST_CASE("expectation: 100-continue alone, of HTTP/1.1, with a body (RFC 9110 §10.1.1)") {
  const auto wants = [](std::string_view text) {
    return read_request({text}).find(" continue") != std::string::npos;
  };
  CHECK(wants("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nExpect: 100-Continue\r\n\r\n"));
  CHECK_FALSE(
      wants("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nExpect: 100-continue\r\n\r\n"));
  CHECK_FALSE(
      wants("POST / HTTP/1.0\r\nHost: a\r\nContent-Length: 1\r\nExpect: 100-continue\r\n\r\n"));
  check_fault(with_field("Expect: 200-ok"), "bad_expectation");
  check_fault(with_field("Expect: 100-continue, x"), "bad_expectation");
  check_fault(with_field("Expect: 100-continue\r\nExpect: 100-continue"), "bad_expectation");
}

TEST_CASE("connection: what the client wants of it (RFC 9112 §9.3)") {
  const auto keeps = [](std::string_view version, std::string_view value) {
    const std::string text = "GET / " + std::string(version) +
                             "\r\nHost: a\r\nConnection: " + std::string(value) + "\r\n\r\n";
    return read_request({text}).find(" keep\n") != std::string::npos;
  };
  CHECK(keeps("HTTP/1.1", "x"));
  CHECK_FALSE(keeps("HTTP/1.1", "x , Close"));
  CHECK_FALSE(keeps("HTTP/1.1", "keep-alive, close"));
  CHECK(keeps("HTTP/1.0", "Keep-Alive"));
  CHECK_FALSE(keeps("HTTP/1.0", "x"));
  CHECK_FALSE(keeps("HTTP/1.0", "keep-alive, close"));
}

// Three cuts at once, over a message with every part.
TEST_CASE("request: all three-way splits agree") {
  const std::string message =
      "\r\nPUT http://h.example/a?b HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi";
  const std::string whole = read_request({message});
  const std::string_view view = message;
  std::size_t differing = 0;
  for (std::size_t i = 1; i < view.size(); ++i) {
    for (std::size_t j = i + 1; j < view.size(); ++j) {
      const Parts parts = {view.substr(0, i), view.substr(i, j - i), view.substr(j)};
      if (read_request(parts) != whole) ++differing;
    }
  }
  CHECK(differing == 0);
  CHECK(whole.substr(0, 8) == "head PUT");
}

}  // namespace
}  // namespace portico::http
