#include "proxy/run/banner.h"

#include <catch2/catch.hpp>

#include "conf/load.h"

using namespace portico;

TEST_CASE("banner: a site's line names every route and what answers there") {
  const conf::Loaded loaded = conf::load({{{"a.yaml", "/", R"(
sites:
  shop.example:
    wsgi: shop.wsgi
    directory: /srv/shop
    routes:
      /api/: {to: api}
      /old/: {to: "127.0.0.1:9001"}
pools:
  api: {endpoints: ["10.0.0.5:8000", "10.0.0.6:8000"]}
)"}},
                                          {}});
  REQUIRE(loaded.problems.empty());
  REQUIRE(loaded.config.sites.size() == 1);
  CHECK(run::site_line(loaded.config.sites[0], loaded.config) ==
        "site shop.example: / is wsgi shop.wsgi in /srv/shop; "
        "/api/ goes to 10.0.0.5:8000, 10.0.0.6:8000; /old/ goes to 127.0.0.1:9001");
  conf::Site empty;
  empty.name = "empty.example";
  CHECK(run::site_line(empty, {}) == "site empty.example: no route, every path is 404");
}

TEST_CASE("banner: a listener's line has its URL and what else it takes") {
  run::BoundListener bound;
  bound.url = "http://localhost:8080";
  CHECK(run::listener_line(bound) == "listening on http://localhost:8080");
  bound.reach = "every address of this machine";
  CHECK(run::listener_line(bound) ==
        "listening on http://localhost:8080 (every address of this machine)");
}
