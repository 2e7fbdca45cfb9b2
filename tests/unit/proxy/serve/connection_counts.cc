#include "proxy/serve/connection_counts.h"

#include <catch2/catch.hpp>

namespace portico::serve {
namespace {

using Counting = ConnectionCounts::Counting;
using Verdict = ConnectionCounts::Verdict;

net::Address address(const char* text) { return *net::Address::parse(text); }

TEST_CASE("connections are capped in all and for each client") {
  ConnectionCounts counts;
  const ConnectionLimits limits{3, 2};
  const net::Address a = address("192.0.2.1:1000");
  const net::Address same_host = address("192.0.2.1:2000");
  const net::Address b = address("192.0.2.2:1000");
  CHECK(counts.enter(a, Counting::by_client, limits) == Verdict::admitted);
  CHECK(counts.enter(same_host, Counting::by_client, limits) == Verdict::admitted);
  CHECK(counts.enter(a, Counting::by_client, limits) == Verdict::client_full);
  CHECK(counts.enter(b, Counting::by_client, limits) == Verdict::admitted);
  CHECK(counts.enter(b, Counting::by_client, limits) == Verdict::full);
  CHECK(counts.total() == 3);
  counts.leave(a, Counting::by_client);
  CHECK(counts.enter(same_host, Counting::by_client, limits) == Verdict::admitted);
}

TEST_CASE("an anonymous client (Unix socket, trusted proxy) has no cap of its own") {
  ConnectionCounts counts;
  const ConnectionLimits limits{10, 1};
  const net::Address a = address("192.0.2.1:1000");
  for (int count = 0; count < 10; ++count)
    CHECK(counts.enter(a, Counting::anonymous, limits) == Verdict::admitted);
  CHECK(counts.enter(a, Counting::anonymous, limits) == Verdict::full);
}

TEST_CASE("over a Unix socket each user has a cap of its own, where users are told apart") {
  ConnectionCounts counts;
  const ConnectionLimits limits{10, 1, 2};
  const net::Address nameless = address("unix:/run/x");
  for (int count = 0; count < 2; ++count)
    CHECK(counts.enter(nameless, Counting::by_user, limits, 1000) == Verdict::admitted);
  CHECK(counts.enter(nameless, Counting::by_user, limits, 1000) == Verdict::client_full);
  CHECK(counts.enter(nameless, Counting::by_user, limits, 1001) == Verdict::admitted);
  counts.leave(nameless, Counting::by_user, 1000);
  CHECK(counts.enter(nameless, Counting::by_user, limits, 1000) == Verdict::admitted);
}

TEST_CASE("an IPv6 client is its /64") {
  ConnectionCounts counts;
  const ConnectionLimits limits{10, 1};
  CHECK(counts.enter(address("[2001:db8::1]:1"), Counting::by_client, limits) == Verdict::admitted);
  CHECK(counts.enter(address("[2001:db8::ffff:2]:1"), Counting::by_client, limits) ==
        Verdict::client_full);
  CHECK(counts.enter(address("[2001:db8:0:1::1]:1"), Counting::by_client, limits) ==
        Verdict::admitted);
  CHECK(counts.enter(address("32.1.13.184:1"), Counting::by_client, limits) == Verdict::admitted);
}

TEST_CASE("crowded begins above 80 %") {
  ConnectionCounts counts;
  const ConnectionLimits limits{10, 10};
  for (int count = 0; count < 8; ++count) counts.enter({}, Counting::anonymous, limits);
  CHECK_FALSE(counts.crowded(limits));
  counts.enter({}, Counting::anonymous, limits);
  CHECK(counts.crowded(limits));
}

TEST_CASE("the cap that is derived leaves half of the descriptors for endpoints") {
  CHECK(connections_for_open_files(65536) == (65536 - 128) / 2);
  CHECK(connections_for_open_files(1024) == 448);
  CHECK(connections_for_open_files(100) == 16);
  CHECK(connections_for_open_files() >= 16);
}

}  // namespace
}  // namespace portico::serve
