#include "proxy/net/address.h"

#include <netinet/in.h>
#include <sys/un.h>

#include <catch2/catch.hpp>

namespace portico::net {
namespace {

Address parsed(std::string_view text) {
  const auto address = Address::parse(text);
  INFO(text);
  REQUIRE(address);
  return *address;
}

Address ip(std::string_view host) { return *Address::parse_ip(host, 0); }

bool contains(std::string_view network, std::string_view host) {
  const auto parsed_network = Network::parse(network);
  INFO(network);
  REQUIRE(parsed_network);
  return parsed_network->contains(ip(host));
}

}  // namespace

TEST_CASE("address: what is written is read back") {
  for (const std::string text :
       {"127.0.0.1:80", "[::1]:8080", "[2001:db8::1]:65535", "unix:/run/app.sock", "0.0.0.0:0"}) {
    CHECK(parsed(text).text() == text);
  }
  CHECK(parsed("[::1]:8080").host_text() == "::1");
  CHECK(parsed("127.0.0.1:80").host_text() == "127.0.0.1");
  CHECK(parsed("127.0.0.1:80").port() == 80);
  CHECK(parsed("unix:/a").path() == "/a");
}

TEST_CASE("address: what is no address is refused") {
  const std::string long_path = "unix:/" + std::string(108, 'a');
  for (const std::string text : {"",
                                 "127.0.0.1",
                                 "127.0.0.1:",
                                 "127.0.0.1:65536",
                                 "127.0.0.1:-1",
                                 "127.0.0.1:+80",
                                 "127.0.0.1: 80",
                                 "::1:80",
                                 "[::1]",
                                 "[127.0.0.1]:80",
                                 "[::1:80",
                                 "::1]:80",
                                 "[]:80",
                                 "example.org:80",
                                 "127.0.0.256:80",
                                 "127.1:80",
                                 "[fe80::1%lo]:80",
                                 "unix:",
                                 ":80",
                                 "[::g]:1"}) {
    INFO(text);
    CHECK_FALSE(Address::parse(text));
  }
  CHECK_FALSE(Address::parse(long_path));
  CHECK_FALSE(Address::parse(std::string_view("unix:/a\0b", 9)));
  CHECK_FALSE(Address::parse_ip(std::string_view("::1\0", 4), 0));
}

TEST_CASE("address: an IPv4 client of an IPv6 socket is IPv4 (RFC 4291 2.5.5.2)") {
  sockaddr_in6 in{};
  in.sin6_family = AF_INET6;
  in.sin6_port = htons(81);
  in.sin6_addr.s6_addr[10] = in.sin6_addr.s6_addr[11] = 0xff;
  in.sin6_addr.s6_addr[12] = 10;
  in.sin6_addr.s6_addr[15] = 1;
  const Address address = Address::from(reinterpret_cast<sockaddr*>(&in), sizeof in);
  CHECK(address.family() == Address::Family::ipv4);
  CHECK(address.text() == "10.0.0.1:81");
  CHECK(address.ip_bytes().size() == 4);
  CHECK(address == parsed("10.0.0.1:81"));
  CHECK(parsed("[::ffff:10.0.0.1]:81") == address);
}

TEST_CASE("address: what fill() writes, from() reads") {
  for (const std::string text : {"127.0.0.1:80", "[2001:db8::1]:443", "unix:/run/app.sock"}) {
    sockaddr_storage storage;
    const Address address = parsed(text);
    const socklen_t length = address.fill(storage);
    CHECK(Address::from(reinterpret_cast<sockaddr*>(&storage), length) == address);
  }
}

TEST_CASE("address: nameless and abstract Unix sockets have no path") {
  sockaddr_un un{};
  un.sun_family = AF_UNIX;
  const auto* address = reinterpret_cast<sockaddr*>(&un);
  CHECK(Address::from(address, sizeof un.sun_family).host_text() == "unix:");
  un.sun_path[1] = 'x';
  CHECK(Address::from(address, sizeof un.sun_family + 2).host_text() == "unix:");
  CHECK(Address::from(address, 0).family() == Address::Family::none);
  CHECK(Address().text().empty());
}

TEST_CASE("address: another port keeps the rest; a path has none") {
  CHECK(parsed("[::1]:1").with_port(2).text() == "[::1]:2");
  CHECK(parsed("unix:/a").with_port(2) == parsed("unix:/a"));
}

TEST_CASE("network: the prefix decides, bit by bit") {
  CHECK(contains("10.0.0.0/8", "10.255.0.1"));
  CHECK_FALSE(contains("10.0.0.0/8", "11.0.0.1"));
  CHECK(contains("192.168.4.0/22", "192.168.7.255"));
  CHECK_FALSE(contains("192.168.4.0/22", "192.168.8.0"));
  CHECK(contains("10.1.2.3/8", "10.9.9.9"));
  CHECK(contains("127.0.0.1", "127.0.0.1"));
  CHECK_FALSE(contains("127.0.0.1", "127.0.0.2"));
  CHECK(contains("0.0.0.0/0", "203.0.113.9"));
  CHECK_FALSE(contains("0.0.0.0/0", "::1"));
  CHECK(contains("2001:db8::/33", "2001:db8:7fff::1"));
  CHECK_FALSE(contains("2001:db8::/33", "2001:db8:8000::1"));
  CHECK(contains("::ffff:10.0.0.0/8", "10.1.1.1"));
}

TEST_CASE("network: unix matches every Unix client and nobody else") {
  for (const std::string text : {"unix", "unix:"}) {
    const auto network = Network::parse(text);
    REQUIRE(network);
    CHECK(network->contains(Address::local({})));
    CHECK(network->contains(Address::local("/run/x")));
    CHECK_FALSE(network->contains(ip("127.0.0.1")));
    CHECK_FALSE(network->contains(Address()));
  }
}

TEST_CASE("network: what is no network is refused") {
  for (const std::string text : {"", "/8", "10.0.0.0/33", "::/129", "10.0.0.0/", "10.0.0.0/a",
                                 "10.0.0.0/-1", "example.org/8", "10/8", "10.0.0.0/8/8"}) {
    INFO(text);
    CHECK_FALSE(Network::parse(text));
  }
}

TEST_CASE("address: what is on this machine itself") {
  for (const char* text : {"127.0.0.1:80", "127.255.3.4:1", "[::1]:80"})
    CHECK(Address::parse(text)->is_loopback());
  for (const char* text : {"128.0.0.1:80", "10.127.0.1:1", "[::2]:80", "[1::1]:80", "0.0.0.0:1",
                           "[::]:1", "unix:/127.0.0.1"})
    CHECK_FALSE(Address::parse(text)->is_loopback());
}

}  // namespace portico::net
