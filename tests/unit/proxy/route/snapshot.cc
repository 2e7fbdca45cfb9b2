#include "proxy/route/snapshot.h"

#include <catch2/catch.hpp>
#include <memory>
#include <string>

#include "proxy/route/application_host.h"
#include "proxy/route/counters.h"
#include "proxy/route/log_files.h"
#include "proxy/route/pools.h"
#include "proxy/serve/root.h"
#include "tests/support/fake_exchange.h"

namespace portico::route {
namespace {

struct NoTask final : serve::Handler {
  std::unique_ptr<serve::Task> start(serve::Exchange&) const override { return nullptr; }
};

struct NoApplications final : ApplicationHost {
  std::shared_ptr<const serve::Handler> handler(const conf::Application&,
                                                const conf::Route&) override {
    return std::make_shared<NoTask>();
  }
};

struct House {
  NoApplications applications;
  Pools pools{1};
  LogFiles logs;
  Counters counters;
  Surroundings around{applications, pools, logs, counters, instance_name()};
};

// One site whose "/" goes to a pool.
conf::Config config() {
  conf::Config config;
  config.log.access = "off";
  conf::Pool pool;
  pool.name = "api";
  pool.endpoints.resize(1);
  pool.endpoints[0].address.host = "192.0.2.1";
  pool.endpoints[0].address.port = 80;
  config.pools.push_back(pool);
  conf::Site site;
  site.name = "shop.example";
  site.hosts = {"shop.example"};
  site.log.access = "off";
  conf::Route route;
  route.path = "/";
  route.handler = conf::ToPool{"api"};
  site.routes.push_back(route);
  config.sites.push_back(site);
  return config;
}

}  // namespace

TEST_CASE("snapshot: heads are read within the widest limits of all routes") {
  House house;
  conf::Config wide = config();
  wide.sites[0].routes[0].limits.header_bytes = 64 * conf::kib;
  wide.sites[0].routes[0].limits.header_fields = 3;
  wide.limits.body = 5;
  const auto root = Snapshot::compile(wide, house.around)->root();
  CHECK(root->head.header_bytes == 64 * conf::kib);
  CHECK(root->head.header_fields == 100);
  CHECK(root->limits.body_bytes == 5);
}

TEST_CASE("snapshot: trusted proxies have no cap of their own") {
  House house;
  conf::Config trusting = config();
  conf::Network ten;
  ten.bytes = {10};
  ten.prefix = 8;
  trusting.trusted_proxies.push_back(ten);
  const auto root = Snapshot::compile(trusting, house.around)->root();
  REQUIRE(root->uncounted.size() == 1);
  CHECK(root->uncounted[0].contains(*net::Address::parse("10.1.2.3:4")));
}

TEST_CASE("snapshot: the root keeps its snapshot, and the pool its object through reloads") {
  House house;
  auto first = Snapshot::compile(config(), house.around);
  const std::weak_ptr<const Snapshot> watched = first;
  auto root = first->root();
  first.reset();
  CHECK_FALSE(watched.expired());
  const auto pool = house.pools.all();
  REQUIRE(pool.size() == 1);
  const auto second = Snapshot::compile(config(), house.around);
  root.reset();
  CHECK(watched.expired());
  REQUIRE(house.pools.all().size() == 1);
  CHECK(house.pools.all()[0] == pool[0]);
}

TEST_CASE("snapshot: two instances have two names, good as a token of Via and Proxy-Status") {
  CHECK(instance_name() != instance_name());
  CHECK(instance_name().starts_with("portico-"));
  CHECK(instance_name().find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") ==
        std::string::npos);
}

TEST_CASE("snapshot: a thousand sites are told apart") {
  House house;
  conf::Config many = config();
  const conf::Site pattern = many.sites[0];
  many.sites.clear();
  for (int i = 0; i < 1000; ++i) {
    conf::Site site = pattern;
    site.name = "s" + std::to_string(i) + ".example";
    site.hosts = {site.name};
    site.routes[0].path = "/nowhere/";
    many.sites.push_back(site);
  }
  const auto root = Snapshot::compile(many, house.around)->root();
  tests::FakeExchange exchange("GET / HTTP/1.1\r\nHost: s999.example\r\n\r\n");
  root->handler->start(exchange);
  CHECK(exchange.fault() == core::Fault::no_route);
  CHECK(exchange.trace().site == "s999.example");
}

}  // namespace portico::route
