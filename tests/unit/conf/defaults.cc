// What holds when nothing is written: each number here is a promise of portico.yaml(5).
#include <catch2/catch.hpp>

#include "tests/unit/conf/texts.h"

using namespace portico::conf;
using namespace portico::conf::testing;
using std::chrono::seconds;

namespace {

Config minimal() {
  const Loaded loaded =
      load_text("sites: {shop.example: {wsgi: shop.wsgi, directory: /srv/shop}}\n");
  REQUIRE(lines(loaded.problems).empty());
  return loaded.config;
}

}  // namespace

TEST_CASE("defaults: an empty file loads, listens on 8080 and has no site") {
  for (const char* text : {"", "# nothing\n", "sites:\n", "sites: {}\npools: {}\ntimeouts:\n"}) {
    CAPTURE(text);
    const Loaded loaded = load_text(text);
    CHECK(lines(loaded.problems).empty());
    CHECK(loaded.config.sites.empty());
    REQUIRE(loaded.config.listeners.size() == 1);
    CHECK(loaded.config.listeners[0].address.text() == ":8080");
  }
}

TEST_CASE("defaults: the server") {
  const Config config = minimal();
  CHECK(config.front_threads == 0);
  CHECK(config.user.empty());
  CHECK(config.shutdown_timeout == seconds(30));
  CHECK(config.connections.total == 0);
  CHECK(config.connections.per_client == 16384);
  CHECK(config.trusted_proxies.empty());
  CHECK(config.state_directory == "/var/lib/portico");
  CHECK(config.run_directory == "/run/portico");
  CHECK(config.control.empty());  // the usual place
  CHECK(config.log.access == "-");
  CHECK(config.log.format == LogFormat::combined);
  CHECK(config.log.level == LogLevel::info);
  CHECK(config.spool.directory == "/var/tmp");
  CHECK(config.spool.quota == 1073741824);
  CHECK(config.spool.memory == 67108864);
  CHECK(config.spool.threshold == 65536);
}

TEST_CASE("defaults: timeouts") {
  const Timeouts timeouts = minimal().sites.at(0).routes.at(0).timeouts;
  CHECK(timeouts.header == seconds(10));
  CHECK(timeouts.idle == seconds(60));
  CHECK(timeouts.connect == seconds(5));
  CHECK(timeouts.response == seconds(60));
  CHECK(timeouts.queue == seconds(60));
  CHECK(timeouts.body == seconds(30));
  CHECK(timeouts.send == seconds(120));
}

TEST_CASE("defaults: limits") {
  const Limits limits = minimal().sites.at(0).routes.at(0).limits;
  CHECK(limits.header_bytes == 32768);
  CHECK(limits.target_bytes == 8192);
  CHECK(limits.header_fields == 100);
  CHECK(limits.body == 33554432);
  CHECK(limits.queue == 4096);
  CHECK(limits.response_buffer == 67108864);
  CHECK(limits.client_rate == 64);
}

TEST_CASE("defaults: a site and its application") {
  const Config config = minimal();
  const Site& site = config.sites.at(0);
  CHECK(site.name == "shop.example");
  CHECK(site.hosts == std::vector<std::string>{"shop.example"});
  CHECK_FALSE(site.is_default);
  CHECK(site.merge_slashes);
  CHECK_FALSE(site.unsafe_encoded_slashes);
  CHECK_FALSE(site.unsafe_unknown_methods);
  REQUIRE(site.routes.size() == 1);
  CHECK(site.routes[0].path == "/");
  CHECK(site.routes[0].handler == Handler(ToApplication{"shop.example"}));
  const Application& application = config.applications.at(0);
  CHECK(application.name == "shop.example");
  CHECK(application.site == "shop.example");
  CHECK(application.reference == "shop.wsgi");
  CHECK(application.directory == "/srv/shop");
  CHECK(application.python.empty());
  CHECK(application.script_name.empty());
  CHECK(application.workers == 2);
  CHECK(application.preload == Preload::if_safe);
  CHECK(application.shared_imports.empty());
  CHECK(application.threads == 1);
  CHECK_FALSE(application.demand);
  CHECK(application.recycle == Recycle{0, 0, milliseconds(0), 10});
  CHECK(application.environment.empty());
  CHECK_FALSE(application.health);
  CHECK(application.touch.empty());
  CHECK_FALSE(application.reload);
  CHECK(application.before_deploy.empty());
  CHECK(application.warm == std::vector<std::string>{"/"});
}

TEST_CASE("defaults: a pool is probed by a connect") {
  const Loaded loaded = load_text("pools: {api: {endpoints: [\"10.0.0.5:8000\"]}}\n");
  REQUIRE(lines(loaded.problems).empty());
  const Pool& pool = loaded.config.pools.at(0);
  CHECK(pool.policy == Policy::round_robin);
  CHECK(pool.connections == 0);
  CHECK(pool.queue == 4096);
  CHECK(pool.endpoints.at(0).weight == 1);
  REQUIRE(pool.health);
  CHECK(pool.health->path.empty());
  CHECK(pool.health->host.empty());
  CHECK(pool.health->interval == seconds(5));
  CHECK(pool.health->timeout == seconds(2));
  CHECK(pool.health->rise == 2);
  CHECK(pool.health->fall == 3);
  CHECK(pool.health->status_first == 200);
  CHECK(pool.health->status_last == 399);
}
