// The rows of "Request identity" that routing decides; forwarded.cc and via.cc have the rest.
#include "proxy/route/router.h"

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/fake_exchange.h"

namespace portico::route {
namespace {

using core::Fault;
using tests::FakeExchange;

struct QuietJournal final : serve::Journal {
  void finished(const serve::Exchange&) const override {}
};

// Answers 200 and names the site and route that it stands in.
class Answer final : public serve::Handler {
 public:
  explicit Answer(int& called) : called_(called) {}
  std::unique_ptr<serve::Task> start(serve::Exchange& exchange) const override {
    ++called_;
    exchange.respond({}, nullptr);
    return nullptr;
  }

 private:
  int& called_;
};

// shop.example: "/" to an application, "/api/" to a pool; bare.example: "/only/" alone;
// *.wild.example: lenient in everything.
class House {
 public:
  explicit House(std::vector<net::Network> trusted = {}) {
    conf::Site shop = named("shop.example");
    shop.hosts.push_back("www.shop.example");
    shop.routes = {route("/", conf::ToApplication{"shop.example"}),
                   route("/api/", conf::ToPool{"api"})};
    add(shop);
    conf::Site bare = named("bare.example");
    bare.routes = {route("/only/", conf::ToPool{"api"})};
    add(bare);
    conf::Site wild = named("*.wild.example");
    wild.routes = {route("/", conf::ToPool{"api"})};
    wild.merge_slashes = false;
    wild.unsafe_encoded_slashes = true;
    wild.unsafe_unknown_methods = true;
    add(wild);
    router_ = std::make_unique<Router>(std::move(hosts_), std::move(sites_),
                                       Forwarded(std::move(trusted)), "portico-1f");
  }

  Fault start(FakeExchange& exchange) const {
    const auto task = router_->start(exchange);
    CHECK(task == nullptr);
    CHECK(exchange.answered());
    return exchange.fault();
  }
  Fault ask(const std::string& line, const std::string& host,
            const std::string& fields = "") const {
    FakeExchange exchange(line + "\r\nHost: " + host + "\r\n" + fields + "\r\n");
    return start(exchange);
  }
  int called() const { return called_; }

 private:
  static conf::Site named(const std::string& name) {
    conf::Site site;
    site.name = name;
    site.hosts = {name};
    return site;
  }
  static conf::Route route(const std::string& path, conf::Handler handler) {
    conf::Route made;
    made.path = path;
    made.handler = std::move(handler);
    return made;
  }
  void add(const conf::Site& written) {
    std::vector<Route> routes;
    for (const conf::Route& one : written.routes)
      routes.emplace_back(one, std::make_shared<Answer>(called_));
    sites_.push_back(
        std::make_unique<Site>(written, std::move(routes), std::make_unique<QuietJournal>()));
    hosts_.add(written, *sites_.back());
  }

  mutable int called_ = 0;
  Hosts hosts_;
  std::vector<std::unique_ptr<const Site>> sites_;
  std::unique_ptr<Router> router_;
};

FakeExchange get(const std::string& target, const std::string& host, const std::string& more = "") {
  return FakeExchange("GET " + target + " HTTP/1.1\r\nHost: " + host + "\r\n" + more + "\r\n");
}

}  // namespace

TEST_CASE("router: an unknown Host is 421 and touches no handler and no site (RFC 9110 7.4)") {
  const House house;
  FakeExchange exchange = get("/", "evil.example");
  CHECK(house.start(exchange) == Fault::unknown_host);
  CHECK(exchange.trace().status == 421);
  CHECK(exchange.trace().site.empty());
  CHECK(exchange.journal() == nullptr);
  CHECK_FALSE(exchange.trace().request_id.empty());
  CHECK(house.called() == 0);
}

TEST_CASE("router: HTTP/1.0 without a Host is nobody's where no site is the default") {
  const House house;
  FakeExchange exchange("GET / HTTP/1.0\r\n\r\n");
  CHECK(house.start(exchange) == Fault::unknown_host);
}

TEST_CASE("router: site and route stand in the trace, and the site's journal hears of it") {
  const House house;
  FakeExchange exchange = get("/api/x", "www.shop.example");
  CHECK(house.start(exchange) == Fault::none);
  CHECK(exchange.trace().site == "shop.example");
  CHECK(exchange.trace().route == "/api/");
  CHECK(exchange.journal() != nullptr);
  CHECK(exchange.trace().client == exchange.connection().client);
  CHECK(house.called() == 1);
}

TEST_CASE("router: one canonical host, for finding the site and for everybody behind us") {
  const House house;
  for (const char* host : {"SHOP.Example", "shop.example.", "shop.example:80", "shop.example:"}) {
    FakeExchange exchange = get("/", host);
    CHECK(house.start(exchange) == Fault::none);
    CHECK(exchange.field("host") == "shop.example");
    CHECK(exchange.field("x-forwarded-host") == "shop.example");
  }
  FakeExchange with_port = get("/", "Shop.example:8080");
  CHECK(house.start(with_port) == Fault::none);
  CHECK(with_port.field("host") == "shop.example:8080");
}

TEST_CASE("router: the default port is that of the scheme which the client uses") {
  const House house;
  FakeExchange exchange = get("/", "shop.example:443");
  exchange.facts().secure = true;
  CHECK(house.start(exchange) == Fault::none);
  CHECK(exchange.field("host") == "shop.example");
  FakeExchange plain = get("/", "shop.example:443");
  CHECK(house.start(plain) == Fault::none);
  CHECK(plain.field("host") == "shop.example:443");
}

TEST_CASE("router: an absolute target's authority wins over Host (RFC 9112 3.2.2)") {
  const House house;
  FakeExchange exchange = get("http://shop.example/api/", "evil.example");
  CHECK(house.start(exchange) == Fault::none);
  CHECK(exchange.trace().route == "/api/");
  CHECK(exchange.field("host") == "shop.example");
  FakeExchange foreign = get("http://evil.example/", "shop.example");
  CHECK(house.start(foreign) == Fault::unknown_host);
}

TEST_CASE("router: an absolute target with another scheme than the client's is 421") {
  const House house;
  FakeExchange exchange = get("https://shop.example/", "shop.example");
  CHECK(house.start(exchange) == Fault::unknown_host);
  FakeExchange secure = get("https://shop.example/", "shop.example");
  secure.facts().secure = true;
  CHECK(house.start(secure) == Fault::none);
  const House trusting({*net::Network::parse("192.0.2.0/24")});
  const std::string told = "X-Forwarded-Proto: https\r\n";
  for (const char* target : {"http://shop.example/", "https://shop.example/"}) {
    FakeExchange behind_proxy = get(target, "shop.example", told);
    CHECK(trusting.start(behind_proxy) == Fault::none);
  }
}

TEST_CASE("router: routes see the canonical path, the raw target is kept (CVE-2019-9901)") {
  const House house;
  for (const char* path :
       {"/api/", "/x/../api/", "//api//x", "/%61pi/x", "/./api", "/x/%2e%2e/api/"}) {
    FakeExchange exchange = get(path, "shop.example");
    CHECK(house.start(exchange) == Fault::none);
    CHECK(exchange.trace().route == "/api/");
    CHECK(exchange.request().target == path);
  }
  CHECK(house.ask("GET /api/../x HTTP/1.1", "shop.example") == Fault::none);
}

TEST_CASE("router: %2f, %5c, %00, invalid escapes and ..; are 400 (security: path differences)") {
  const House house;
  for (const char* path : {"/a%2fb", "/a%5Cb", "/a%00b", "/a%zz", "/a%2", "/a/..;/b"})
    CHECK(house.ask("GET " + std::string(path) + " HTTP/1.1", "shop.example") == Fault::bad_target);
  CHECK(house.called() == 0);
}

TEST_CASE("router: a site may let encoded slashes and doubled ones through") {
  const House house;
  FakeExchange exchange = get("/a%2fb//c", "x.wild.example");
  CHECK(house.start(exchange) == Fault::none);
  CHECK(exchange.request().where.path == "/a%2Fb//c");
  CHECK(house.ask("GET /a%00 HTTP/1.1", "x.wild.example") == Fault::bad_target);
}

TEST_CASE("router: a path without a route is 404") {
  const House house;
  CHECK(house.ask("GET / HTTP/1.1", "bare.example") == Fault::no_route);
  CHECK(house.ask("GET /onlyx HTTP/1.1", "bare.example") == Fault::no_route);
  CHECK(house.ask("GET /only HTTP/1.1", "bare.example") == Fault::none);
}

TEST_CASE("router: TRACE is refused, unknown methods pass only where the site says so") {
  const House house;
  CHECK(house.ask("TRACE / HTTP/1.1", "shop.example") == Fault::method_refused);
  CHECK(house.ask("TRACE / HTTP/1.1", "x.wild.example") == Fault::method_refused);
  CHECK(house.ask("BREW / HTTP/1.1", "shop.example") == Fault::method_refused);
  CHECK(house.ask("BREW / HTTP/1.1", "x.wild.example") == Fault::none);
}

TEST_CASE("router: OPTIONS * goes to the site's own handler, else we answer (RFC 9110 9.3.7)") {
  const House house;
  CHECK(house.ask("OPTIONS * HTTP/1.1", "shop.example") == Fault::none);
  CHECK(house.called() == 1);
  FakeExchange exchange("OPTIONS * HTTP/1.1\r\nHost: bare.example\r\n\r\n");
  CHECK(house.start(exchange) == Fault::none);
  CHECK(house.called() == 1);
  REQUIRE(exchange.response());
  CHECK(exchange.response()->status == 204);
  CHECK(exchange.response()->fields.has("allow"));
}

TEST_CASE("router: a request that has come through us before is 508 (RFC 9110 7.6.3)") {
  const House house;
  CHECK(house.ask("GET / HTTP/1.1", "shop.example", "Via: 1.1 portico-1f\r\n") ==
        Fault::loop_detected);
  CHECK(house.ask("GET / HTTP/1.1", "shop.example", "Via: 1.1 other\r\n") == Fault::none);
}

TEST_CASE("router: Via is told to endpoints, not to applications") {
  const House house;
  FakeExchange to_pool = get("/api/", "shop.example");
  house.start(to_pool);
  CHECK(to_pool.field("via") == "1.1 portico-1f");
  FakeExchange to_application = get("/", "shop.example");
  house.start(to_application);
  CHECK(to_application.field("via") == "-");
}

TEST_CASE("router: an application gets no name that CGI naming could mistake (CVE-2026-39858)") {
  const House house;
  const std::string fields = "X.Y: 1\r\nX_Y: 2\r\nX-Y: 3\r\n";
  FakeExchange to_application = get("/", "shop.example", fields);
  house.start(to_application);
  CHECK(to_application.field("x.y") == "-");
  CHECK(to_application.field("x_y") == "-");
  CHECK(to_application.field("x-y") == "3");
}

TEST_CASE("router: an application gets nothing that belongs to the hop (RFC 9110 7.6.1)") {
  const House house;
  FakeExchange exchange = get("/", "shop.example",
                              "Connection: keep-alive, X-Local\r\nX-Local: 1\r\nTE: trailers\r\n"
                              "Upgrade: h2c\r\nHTTP2-Settings: x\r\nKeep-Alive: 5\r\n"
                              "Proxy-Connection: keep-alive\r\nCookie: a=1\r\n");
  house.start(exchange);
  for (const char* name : {"connection", "x-local", "te", "upgrade", "http2-settings", "keep-alive",
                           "proxy-connection"})
    CHECK(exchange.field(name) == "-");
  CHECK(exchange.field("cookie") == "a=1");
}

TEST_CASE("router: a client's forwarding fields end here, Connection cannot remove ours") {
  const House house;
  FakeExchange exchange =
      get("/api/", "shop.example",
          "X-Forwarded-For: 127.0.0.1\r\nConnection: X-Forwarded-For, X-Request-ID, Host\r\n");
  CHECK(house.start(exchange) == Fault::none);
  CHECK(exchange.field("x-forwarded-for") == "192.0.2.7");
  CHECK(exchange.field("x-request-id") == exchange.trace().request_id.view());
}

TEST_CASE("router: a request ID is taken over from a trusted proxy alone, and only a plain one") {
  const House house({*net::Network::parse("192.0.2.0/24")});
  FakeExchange trusted = get("/", "shop.example", "X-Request-ID: from-the-edge\r\n");
  house.start(trusted);
  CHECK(trusted.trace().request_id.view() == "from-the-edge");
  CHECK(trusted.field("x-request-id") == "from-the-edge");
  FakeExchange ugly = get("/", "shop.example", "X-Request-ID: a\"b\r\n");
  house.start(ugly);
  CHECK(ugly.trace().request_id.size() == 32);
  FakeExchange stranger = get("/", "shop.example", "X-Request-ID: mine\r\n");
  stranger.come_from("203.0.113.1:1");
  house.start(stranger);
  CHECK(stranger.trace().request_id.size() == 32);
  CHECK(stranger.request().fields.count("x-request-id") == 1);
}

TEST_CASE("router: the effective client and scheme stand in the trace") {
  const House house({*net::Network::parse("192.0.2.0/24")});
  FakeExchange exchange =
      get("/", "shop.example", "X-Forwarded-For: 203.0.113.9\r\nX-Forwarded-Proto: https\r\n");
  house.start(exchange);
  CHECK(exchange.trace().client.host_text() == "203.0.113.9");
  CHECK(exchange.trace().secure);
}

}  // namespace portico::route
