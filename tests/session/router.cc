// A compiled snapshot behind the server: what a client sees of routing, pages and reloads, and what
// the log has of it. No port; applications are functions.
#include <catch2/catch.hpp>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include <stdlib.h>
#include <unistd.h>

#include "conf/load.h"
#include "proxy/route/application_host.h"
#include "proxy/route/counters.h"
#include "proxy/route/log_files.h"
#include "proxy/route/pools.h"
#include "proxy/route/snapshot.h"
#include "tests/support/serve_fixture.h"

namespace portico {
namespace {

using namespace tests;

// Applications that are functions, by name.
class FunctionHost final : public route::ApplicationHost {
 public:
  std::shared_ptr<const serve::Handler> handler(const conf::Application& application,
                                                const conf::Route&) override {
    return std::make_shared<FunctionHandler>([this, name = application.name](auto& exchange) {
      ++called[name];
      return start ? start(exchange) : answer_target(exchange);
    });
  }

  std::map<std::string, int> called;
  StartFunction start;
};

// A temporary file for a log, removed at the end.
class LogPath {
 public:
  LogPath() {
    const int fd = ::mkstemp(name_.data());
    REQUIRE(fd >= 0);
    ::close(fd);
  }
  ~LogPath() { ::unlink(name_.c_str()); }
  const std::string& name() const { return name_; }
  std::string text() const {
    std::ifstream in(name_);
    std::ostringstream out;
    out << in.rdbuf();
    return out.str();
  }

 private:
  std::string name_ = "/tmp/portico-log-XXXXXX";
};

// Two sites: shop.example with an application at "/" and a strict one at "/small/"; blog.example.
constexpr std::string_view usual = R"(
sites:
  shop.example:
    wsgi: shop
    directory: /srv/shop
    routes:
      /small/: {wsgi: small, directory: /srv/small, limits: {body: 8B, header_fields: 10}}
  blog.example: {wsgi: blog, directory: /srv/blog}
)";

class Door : public ServeFixture {
 public:
  explicit Door(std::string_view text = usual) { configure(text); }
  ~Door() {
    snapshot.reset();
    server.serve_with(std::make_shared<serve::Root>());
  }

  void configure(std::string_view text) {
    conf::Sources sources;
    sources.files.push_back({"portico.yaml", "/", std::string(text)});
    conf::Loaded loaded = conf::load(sources);
    for (const auto& problem : loaded.problems) FAIL(conf::text(problem));
    if (loaded.config.log.access == "-") silence(loaded.config);
    snapshot = route::Snapshot::compile(std::move(loaded.config), around);
    server.serve_with(snapshot->root());
  }
  std::uint64_t ended(const std::string& site, int status_class) {
    return counters.of(site).by_class[static_cast<std::size_t>(status_class)];
  }

  FunctionHost host;
  route::Pools pools{1};
  route::LogFiles logs;
  route::Counters counters;
  route::Surroundings around{host, pools, logs, counters, "portico-1f"};
  std::shared_ptr<const route::Snapshot> snapshot;

 private:
  static void silence(conf::Config& config) {
    config.log.access = "off";
    for (conf::Site& site : config.sites) site.log.access = "off";
  }
};

std::string get(std::string_view path, std::string_view host, std::string_view fields = "") {
  std::string text = "GET ";
  text.append(path).append(" HTTP/1.1\r\nHost: ").append(host).append("\r\n");
  return text.append(fields).append("\r\n");
}

std::string value_of(const std::string& answer, std::string_view name) {
  const std::string head = core::lower_copy(answer.substr(0, answer.find("\r\n\r\n") + 2));
  const auto at = head.find("\r\n" + std::string(name) + ": ");
  if (at == std::string::npos) return "";
  const auto start = at + name.size() + 4;
  return head.substr(start, head.find("\r\n", start) - start);
}

}  // namespace

TEST_CASE("an unknown host gets a 421 page with a request ID, and touches no application") {
  Door door;
  const std::string answer = door.ask(get("/", "evil.example", "Accept: text/html\r\n"));
  CHECK(status_of(answer) == "421");
  CHECK(has_line(answer, "content-type: text/html; charset=utf-8"));
  CHECK(has_line(answer, "content-length: " + std::to_string(body_of(answer).size())));
  CHECK(body_of(answer).find("<dd>unknown_host while routing the request</dd>") !=
        std::string::npos);
  CHECK(body_of(answer).find("<dd>" + value_of(answer, "x-request-id") + "</dd>") !=
        std::string::npos);
  CHECK(door.host.called.empty());
  CHECK(door.ended("", 4) == 1);
}

TEST_CASE("one connection may ask several sites in turn") {
  Door door;
  const auto peer = door.connect();
  CHECK(status_of(door.ask(*peer, get("/a", "shop.example"))) == "200");
  CHECK(status_of(door.ask(*peer, get("/", "none.example"))) == "421");
  CHECK(status_of(door.ask(*peer, get("/b", "BLOG.example:80"))) == "200");
  CHECK(door.host.called == std::map<std::string, int>{{"blog.example", 1}, {"shop.example", 1}});
  CHECK(door.ended("shop.example", 2) == 1);
  CHECK(door.ended("blog.example", 2) == 1);
}

TEST_CASE("the request ID of the answer is that of the request passed on") {
  Door door;
  std::string seen;
  door.host.start = [&seen](serve::Exchange& exchange) {
    seen = *exchange.request().fields.find("x-request-id");
    return answer_target(exchange);
  };
  const std::string answer = door.ask(get("/", "shop.example", "X-Request-ID: mine\r\n"));
  CHECK(seen.size() == 32);
  CHECK(value_of(answer, "x-request-id") == seen);
}

TEST_CASE("a request that is no HTTP has a request ID on its page as well") {
  Door door;
  const std::string answer = door.ask("GET /\r\n\r\n");
  CHECK(status_of(answer) == "400");
  const std::string id = value_of(answer, "x-request-id");
  CHECK(id.size() == 32);
  CHECK(body_of(answer).find("request: " + id + "\n") != std::string::npos);
}

TEST_CASE("a told length above the route's limit is 413 at once, before a byte of the body") {
  Door door;
  const auto peer = door.connect();
  const std::string answer = door.ask(*peer,
                                      "POST /small/x HTTP/1.1\r\nHost: shop.example\r\n"
                                      "Expect: 100-continue\r\nContent-Length: 9\r\n\r\n");
  CHECK(status_of(answer) == "413");
  CHECK(body_of(answer).find("limits.body") != std::string::npos);
  CHECK(has_line(answer, "connection: close"));
  CHECK(door.host.called.empty());
}

TEST_CASE("a chunked body above the route's limit is 413 too") {
  Door door;
  door.host.start = echo;
  const std::string head =
      "POST /small/x HTTP/1.1\r\nHost: shop.example\r\nTransfer-Encoding: chunked\r\n\r\n";
  CHECK(status_of(door.ask(head + "8\r\n12345678\r\n0\r\n\r\n")) == "200");
  CHECK(status_of(door.ask(head + "9\r\n123456789\r\n0\r\n\r\n")) == "413");
}

TEST_CASE("a route's own limits of the head rule where they are narrower than others'") {
  Door door;
  const std::string fields =
      "A: 1\r\nB: 1\r\nC: 1\r\nD: 1\r\nE: 1\r\nF: 1\r\nG: 1\r\nH: 1\r\nI: 1\r\nJ: 1\r\n";
  CHECK(status_of(door.ask(get("/", "shop.example", fields))) == "200");
  CHECK(status_of(door.ask(get("/small/", "shop.example", fields))) == "431");
}

TEST_CASE("an error to HEAD has the page's length and no page") {
  Door door;
  const std::string answer = door.ask("HEAD / HTTP/1.1\r\nHost: none\r\n\r\n");
  CHECK(status_of(answer) == "421");
  CHECK(value_of(answer, "content-length") != "0");
  CHECK(body_of(answer).empty());
}

TEST_CASE("a failure of the application names its layer, its cause and when to come again") {
  Door door;
  door.host.start = [](serve::Exchange& exchange) {
    exchange.fail({core::Fault::site_unavailable, 0, "importing"});
    return nullptr;
  };
  const std::string answer = door.ask(get("/", "shop.example"));
  CHECK(status_of(answer) == "503");
  CHECK(has_line(answer, "retry-after: 5"));
  CHECK(has_line(answer, "cache-control: no-store"));
  CHECK(has_line(answer,
                 "proxy-status: portico-1f; error=destination_unavailable; "
                 "details=\"site_unavailable\""));
  CHECK(body_of(answer).find("layer: worker\ncause: site_unavailable while importing\n") !=
        std::string::npos);
}

TEST_CASE("OPTIONS * reaches the application of the site") {
  Door door;
  const std::string answer = door.ask("OPTIONS * HTTP/1.1\r\nHost: shop.example\r\n\r\n");
  CHECK(body_of(answer) == "OPTIONS *");
  CHECK(status_of(door.ask("OPTIONS * HTTP/1.1\r\nHost: none\r\n\r\n")) == "421");
}

TEST_CASE("a reload serves new exchanges; one under way keeps its snapshot until it ends") {
  Door door;
  BodyScript script;
  door.host.start = [&script](serve::Exchange& exchange) {
    exchange.respond({}, std::make_unique<ScriptedBody>(script));
    return nullptr;
  };
  const auto slow = door.connect();
  door.ask(*slow, get("/", "shop.example"));
  const std::weak_ptr<const route::Snapshot> old = door.snapshot;
  door.configure("sites: {new.example: {wsgi: new, directory: /srv/new}}");
  door.host.start = nullptr;
  CHECK(status_of(door.ask(get("/", "shop.example"))) == "421");
  CHECK(status_of(door.ask(get("/", "new.example"))) == "200");
  CHECK_FALSE(old.expired());
  script.give("rest");
  script.end();
  door.loop.turn();
  CHECK(slow->take_sent().find("rest") != std::string::npos);
  door.ask(*slow, get("/", "new.example"));
  CHECK(old.expired());
  CHECK(door.ended("shop.example", 2) == 1);
}

TEST_CASE("each site has its log and format; requests that reach no site have the top's") {
  const LogPath top;
  const LogPath shop;
  {
    Door door("log: {access: " + top.name() +
              ", format: json}\nsites:\n"
              "  shop.example: {wsgi: shop, directory: /srv, log: {access: " +
              shop.name() +
              ", format: common}}\n  quiet.example: {wsgi: q, directory: /srv, log: {access: "
              "\"off\"}}\n");
    const auto peer = door.connect();
    door.ask(*peer, get("/x?y=1", "shop.example"));
    door.ask(*peer, get("/", "quiet.example"));
    door.ask(*peer, get("/", "none.example"));
  }
  CHECK(count(shop.text(), "\n") == 1);
  CHECK(shop.text().ends_with("\"GET /x?y=1 HTTP/1.1\" 200 10\n"));
  CHECK(count(top.text(), "\n") == 1);
  CHECK(top.text().find(R"("host":"none.example","method":"GET","target":"/")") !=
        std::string::npos);
  CHECK(top.text().find(R"("status":421)") != std::string::npos);
  CHECK(top.text().find(R"("outcome":"client-error","cause":"unknown_host")") != std::string::npos);
}

}  // namespace portico
