// The record of a request: what the environ will be made of. README.md, "Records"; wsgi.md is
// PEP 3333 and RFC 3875.
#include "backend/front/request_record.h"

#include <catch2/catch.hpp>

#include "proxy/http/target.h"
#include "tests/support/fake_exchange.h"
#include "tests/support/pieces.h"
#include "tests/support/wsgi_bench.h"

using namespace portico;
using namespace portico::tests;

namespace {

/// A flight under way, whose record may be written again.
struct Bench {
  explicit Bench(std::string_view head) : exchange(head, &wsgi.loop) {
    const auto made = http::canonicalise(exchange.mutable_request().where, {});
    REQUIRE(made);
    exchange.trace().client = exchange.connection().client;
    exchange.trace().request_id = core::Slice::literal("id-1");
    wsgi.start_worker(3);
    wsgi.submit(sink);
    flight = sink.flight;
  }
  ~Bench() { flight->abandon(); }

  core::Result<void> write(std::string_view script_name = "") {
    return backend::write_request(*flight, exchange, body, script_name, std::chrono::seconds(30));
  }
  Taken read() {
    Taken taken{std::make_unique<std::string>(flight->record().view()), {}, {}};
    *taken.datagram += flight->inline_body();
    REQUIRE(record::read_record(*taken.datagram, taken.record));
    return taken;
  }
  Taken written(std::string_view script_name = "") {
    REQUIRE(write(script_name));
    return read();
  }
  void fill_body(std::string_view text) {
    ScriptedBody source;
    Agent reader(wsgi.loop, [] {});
    for (std::size_t at = 0; at < text.size(); at += 16'384)
      source.add(slice_of(text.substr(at, 16'384)));
    source.finish(core::Flow::end);
    while (body.collect(source, reader) == core::Flow::wait) {
    }
  }

  WsgiBench wsgi{core::Loop::Drive::by_hand};
  FakeExchange exchange;
  RecordingSink sink;
  backend::Flight* flight = nullptr;
  backend::RequestBody body{wsgi.spool};
};

}  // namespace

TEST_CASE("request record: the request as the client wrote it, and what we know of it") {
  Bench bench(
      "PROPFIND /a%20b//c?x=%20&y HTTP/1.1\r\nHost: A.example:8080\r\nX-One: 1\r\n"
      "Cookie: a=1\r\nCookie: b=2\r\n\r\n");
  const Taken taken = bench.written();
  const record::Record& record = taken.record;
  CHECK(record.cell == bench.flight->cell());
  CHECK(record.serial == bench.flight->serial());
  CHECK(record.front_thread == 0);
  CHECK(record.response_ms == 30000);
  CHECK(record.http_version == 11);
  CHECK(record.method == "PROPFIND");
  CHECK(record.target == "/a%20b//c?x=%20&y");
  CHECK(record.query == "x=%20&y");
  CHECK(record.script_name.empty());
  CHECK(record.path_info == "/a b/c");
  CHECK(record.request_id == "id-1");
  CHECK(record.client_address == "192.0.2.7");
  CHECK(record.client_port == 4711);
  CHECK(record.server_name == "a.example");
  CHECK(record.server_port == 8080);
  CHECK_FALSE(record.https);
  CHECK_FALSE(record.has_length);
  CHECK(record.body_place == record::BodyPlace::none);
  CHECK(taken.field("x-one") == "1");
  CHECK(taken.field("cookie") == "a=1");
}

TEST_CASE("request record: SCRIPT_NAME is cut off, PATH_INFO is what is left, decoded once") {
  const auto [path, script, info] = GENERATE(table<std::string, std::string, std::string>({
      {"/blog/a", "/blog", "/a"},
      {"/blog", "/blog", ""},
      {"/blog/", "/blog", "/"},
      {"/blog/%25zz%2541", "/blog", "/%zz%41"},
      {"/%C3%A4/x", "", "/\xc3\xa4/x"},
      {"/%FF", "", "/\xff"},
      {"/a;b=c", "", "/a;b=c"},
  }));
  Bench bench("GET " + path + " HTTP/1.1\r\nHost: a.example\r\n\r\n");
  const Taken taken = bench.written(script);
  CHECK(taken.record.script_name == script);
  CHECK(taken.record.path_info == info);
  CHECK(taken.record.target == path);
}

TEST_CASE("request record: OPTIONS * has * as its path") {
  Bench bench("OPTIONS * HTTP/1.1\r\nHost: a.example\r\n\r\n");
  CHECK(bench.written().record.path_info == "*");
}

TEST_CASE("request record: a NUL in the path is refused") {
  Bench bench("GET /a HTTP/1.1\r\nHost: a.example\r\n\r\n");
  bench.exchange.mutable_request().where.path = "/a%00b";
  const auto refused = bench.write();
  REQUIRE_FALSE(refused);
  CHECK(refused.error().fault == core::Fault::bad_target);
}

TEST_CASE("request record: ports, https and names are those that the client used") {
  const auto [host, secure, name, port] =
      GENERATE(table<std::string, bool, std::string, std::uint16_t>({
          {"a.example", false, "a.example", 80},
          {"a.example", true, "a.example", 443},
          {"a.example:8443", true, "a.example", 8443},
          {"[2001:db8::1]:81", false, "[2001:db8::1]", 81},
      }));
  Bench bench("GET / HTTP/1.1\r\nHost: " + host + "\r\n\r\n");
  bench.exchange.trace().secure = secure;
  const Taken taken = bench.written();
  CHECK(taken.record.https == secure);
  CHECK(taken.record.server_name == name);
  CHECK(taken.record.server_port == port);
}

TEST_CASE("request record: without Host (HTTP/1.0) the server is the address that was asked") {
  Bench bench("GET / HTTP/1.0\r\n\r\n");
  Taken taken = bench.written();
  CHECK(taken.record.http_version == 10);
  CHECK(taken.record.server_name == "198.51.100.1");
  CHECK(taken.record.server_port == 80);
  bench.exchange.facts().local = *net::Address::parse("unix:/run/portico.sock");
  taken = bench.written();
  CHECK_FALSE(taken.record.server_name.empty());
}

TEST_CASE("request record: an IPv6 client has no brackets; one over a Unix socket has no port") {
  Bench bench("GET / HTTP/1.1\r\nHost: a.example\r\n\r\n");
  bench.exchange.trace().client = *net::Address::parse("[2001:db8::7]:4711");
  Taken taken = bench.written();
  CHECK(taken.record.client_address == "2001:db8::7");
  CHECK(taken.record.client_port == 4711);
  bench.exchange.trace().client = *net::Address::parse("unix:/run/x.sock");
  taken = bench.written();
  CHECK(taken.record.client_port == 0);
}

TEST_CASE("request record: a small body lies inside, and its length is ours") {
  Bench bench("POST / HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: chunked\r\n\r\n");
  bench.fill_body("name=value");
  const Taken taken = bench.written();
  CHECK(taken.record.has_length);
  CHECK(taken.record.content_length == 10);
  CHECK(taken.record.body_place == record::BodyPlace::in_record);
  CHECK(taken.record.body == "name=value");
}

TEST_CASE("request record: an empty body of a told length still has one") {
  Bench bench("POST / HTTP/1.1\r\nHost: a.example\r\nContent-Length: 0\r\n\r\n");
  const Taken taken = bench.written();
  CHECK(taken.record.has_length);
  CHECK(taken.record.content_length == 0);
  CHECK(taken.record.body_place == record::BodyPlace::none);
  CHECK(taken.field("content-length") == "-");  // told apart from the fields
}

TEST_CASE("request record: a large body goes as a descriptor that cannot be written") {
  Bench bench("POST / HTTP/1.1\r\nHost: a.example\r\nContent-Length: 70000\r\n\r\n");
  const std::string text = pattern(70'000);
  bench.fill_body(text);
  const Taken taken = bench.written();
  CHECK(taken.record.body_place == record::BodyPlace::descriptor);
  CHECK(taken.record.content_length == 70'000);
  const int fd = bench.flight->body().get();
  CHECK((read_file(fd, 0, 80'000) == text));
  CHECK(::pwrite(fd, "x", 1, 0) == -1);
}

TEST_CASE("request record: of a streamed body the length, if the client told it, and no more") {
  const bool told = GENERATE(false, true);
  Bench bench(std::string("POST /x HTTP/1.1\r\nHost: a.example\r\n") +
              (told ? "Content-Length: 5" : "Transfer-Encoding: chunked") + "\r\n\r\n");
  REQUIRE(backend::write_streamed_request(*bench.flight, bench.exchange, ""));
  const Taken taken = bench.read();
  CHECK(taken.record.body_place == record::BodyPlace::feed);
  CHECK(taken.record.has_length == told);
  CHECK(taken.record.content_length == (told ? 5 : 0));
  CHECK(taken.record.path_info == "/x");
  CHECK(taken.record.response_ms == 0);
  CHECK(taken.record.body.empty());
}

TEST_CASE("request record: a head that no record can hold is refused") {
  Bench bench("GET / HTTP/1.1\r\nHost: a.example\r\nX-Large: " + std::string(90'000, 'x') +
              "\r\n\r\n");
  const auto refused = bench.write();
  REQUIRE_FALSE(refused);
  CHECK(refused.error().fault == core::Fault::head_too_large);
}

TEST_CASE("request record: a health probe asks with GET, as itself") {
  Bench bench("GET / HTTP/1.1\r\nHost: a.example\r\n\r\n");
  REQUIRE(backend::write_probe(*bench.flight,
                               {"/health%20z", "a.example", backend::Purpose::health}, 0));
  const Taken taken = bench.read();
  CHECK(taken.record.method == "GET");
  CHECK(taken.record.path_info == "/health z");
  CHECK(taken.record.server_name == "a.example");
  CHECK(taken.field("host") == "a.example");
  CHECK(taken.field("user-agent").find("Portico/") == 0);
}
