#include "proxy/net/hosts_file.h"

#include <catch2/catch.hpp>
#include <fstream>

#include "tests/support/sockets.h"

namespace portico::net {
namespace {

std::string first(HostsFile& hosts, std::string_view name) {
  const auto found = hosts.find(name);
  return found.empty() ? "" : found.front().host_text();
}

}  // namespace

TEST_CASE("hosts file: names, aliases, comments, any case, a trailing dot (hosts(5))") {
  const tests::ScratchDirectory scratch;
  std::ofstream(scratch.file("hosts")) << "# 10.0.0.9 commented\n"
                                          "10.0.0.1\tone.example  one # 10.0.0.8 two\n"
                                          "\n"
                                          "2001:db8::2 Two.Example\n"
                                          "10.0.0.2 two.example\n"
                                          "fe80::1%eth0 zoned\n"
                                          "nonsense three\n"
                                          "10.0.0.4\n"
                                          "127.0.0.5 localhost";
  HostsFile hosts(scratch.file("hosts"));
  CHECK(first(hosts, "one.example") == "10.0.0.1");
  CHECK(first(hosts, "ONE") == "10.0.0.1");
  CHECK(first(hosts, "one.example.") == "10.0.0.1");
  CHECK(hosts.find("two.example").size() == 2);
  CHECK(first(hosts, "localhost") == "127.0.0.5");
  for (const std::string name : {"commented", "two", "zoned", "three", "", "10.0.0.4"})
    CHECK(hosts.find(name).empty());
}

TEST_CASE("hosts file: none at all still knows localhost") {
  HostsFile hosts("/nonexistent/hosts");
  CHECK(hosts.find("localhost").size() == 2);
  CHECK(hosts.find("other").empty());
}

}  // namespace portico::net
