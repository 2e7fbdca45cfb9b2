#include "proxy/route/hosts.h"

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "proxy/route/site.h"

namespace portico::route {
namespace {

// Sites by their hosts; the name of the site found for a host, or "none".
class Town {
 public:
  void add(const std::string& name, std::vector<std::string> hosts, bool is_default = false) {
    conf::Site written;
    written.name = name;
    written.hosts = std::move(hosts);
    written.is_default = is_default;
    sites_.push_back(std::make_unique<Site>(written, std::vector<Route>(), nullptr));
    hosts_.add(written, *sites_.back());
  }
  std::string of(std::string_view host) const {
    const Site* site = hosts_.find(host);
    return site == nullptr ? "none" : std::string(site->name());
  }

 private:
  std::vector<std::unique_ptr<Site>> sites_;
  Hosts hosts_;
};

}  // namespace

TEST_CASE("hosts: exact names and aliases") {
  Town town;
  town.add("shop", {"shop.example", "www.shop.example"});
  town.add("six", {"[2001:db8::1]"});
  CHECK(town.of("shop.example") == "shop");
  CHECK(town.of("www.shop.example") == "shop");
  CHECK(town.of("[2001:db8::1]") == "six");
}

TEST_CASE("hosts: without a default site an unknown host is nobody's (complaint 26)") {
  Town town;
  town.add("shop", {"shop.example"});
  for (const char* host :
       {"", "example", "xshop.example", "a.shop.example", "192.0.2.1", "default"})
    CHECK(town.of(host) == "none");
}

TEST_CASE("hosts: an exact name wins over a wildcard, the longest suffix over shorter ones") {
  Town town;
  town.add("wide", {"*.example"});
  town.add("narrow", {"*.shop.example"});
  town.add("exact", {"a.shop.example"});
  CHECK(town.of("a.shop.example") == "exact");
  CHECK(town.of("b.shop.example") == "narrow");
  CHECK(town.of("x.y.shop.example") == "narrow");
  CHECK(town.of("shop.example") == "wide");
  CHECK(town.of("z.example") == "wide");
}

TEST_CASE("hosts: a wildcard takes whole labels, not its own bare name") {
  Town town;
  town.add("wild", {"*.shop.example"});
  CHECK(town.of("shop.example") == "none");
  CHECK(town.of("xshop.example") == "none");
  CHECK(town.of(".shop.example") == "wild");  // never canonical: http refuses an empty label
}

TEST_CASE("hosts: the default site takes what is left, with hosts of its own too") {
  Town town;
  town.add("default", {"named.example"}, true);
  town.add("shop", {"shop.example", "*.shop.example"});
  CHECK(town.of("") == "default");
  CHECK(town.of("192.0.2.1") == "default");
  CHECK(town.of("named.example") == "default");
  CHECK(town.of("a.shop.example") == "shop");
}

TEST_CASE("hosts: each of a thousand sites is found") {
  Town town;
  for (int i = 0; i < 1000; ++i)
    town.add(std::to_string(i), {"s" + std::to_string(i) + ".example"});
  for (int i = 0; i < 1000; ++i)
    REQUIRE(town.of("s" + std::to_string(i) + ".example") == std::to_string(i));
  CHECK(town.of("s1000.example") == "none");
}

}  // namespace portico::route
