#include "proxy/route/address_text.h"

#include <catch2/catch.hpp>
#include <string>

namespace portico::route {
namespace {

std::string read(std::string_view text) {
  const auto address = parse_node(text);
  return address ? address->text() : "none";
}

}  // namespace

TEST_CASE("node: the forms that proxies write (RFC 7239 6)") {
  CHECK(read("192.0.2.1") == "192.0.2.1:0");
  CHECK(read("192.0.2.1:4711") == "192.0.2.1:4711");
  CHECK(read("2001:db8::1") == "[2001:db8::1]:0");
  CHECK(read("[2001:db8::1]") == "[2001:db8::1]:0");
  CHECK(read("[2001:DB8::1]:80") == "[2001:db8::1]:80");
}

TEST_CASE("node: an IPv4 address in IPv6 clothes is IPv4, so that trust in it is one question") {
  CHECK(read("::ffff:192.0.2.1") == "192.0.2.1:0");
  CHECK(read("[::ffff:c000:201]:9") == "192.0.2.1:9");
}

TEST_CASE("node: anything else is nobody") {
  for (const char* bad : {"",
                          "unknown",
                          "_hidden",
                          "shop.example",
                          "192.0.2",
                          "192.0.2.1:",
                          "192.0.2.1:65536",
                          "192.0.2.1:-1",
                          "192.0.2.1 ",
                          " 192.0.2.1",
                          "192.0.2.256",
                          "0x7f.1",
                          "[2001:db8::1",
                          "[2001:db8::1]80",
                          "[2001:db8::1]:x",
                          "[]",
                          "[192.0.2.1]",
                          "fe80::1%eth0",
                          "unix:",
                          "2001:db8::1:2:3:4:5:6:7:8",
                          "1.2.3.4, 5.6.7.8"})
    CHECK(read(bad) == "none");
  CHECK(read(std::string("192.0.2.1\0x", 11)) == "none");
  CHECK(read(std::string(5000, '1')) == "none");
}

TEST_CASE("network: as the operator wrote it, IPv4, IPv6 and Unix sockets") {
  conf::Network ten;
  ten.bytes = {10};
  ten.prefix = 8;
  CHECK(network(ten).contains(*net::Address::parse("10.200.0.1:1")));
  CHECK_FALSE(network(ten).contains(*net::Address::parse("11.0.0.1:1")));
  conf::Network local;
  local.family = conf::Network::Family::unix_socket;
  CHECK(network(local).contains(net::Address::local("")));
  CHECK_FALSE(network(local).contains(*net::Address::parse("10.0.0.1:1")));
  conf::Network six;
  six.family = conf::Network::Family::ip6;
  six.bytes = {0x20, 0x01, 0x0d, 0xb8};
  six.prefix = 32;
  CHECK(network(six).contains(*net::Address::parse("[2001:db8:1::1]:1")));
  CHECK_FALSE(network(six).contains(*net::Address::parse("[2001:db9::1]:1")));
}

}  // namespace portico::route
