#include "proxy/net/resolver.h"

#include <catch2/catch.hpp>
#include <fstream>

#include "proxy/net/resolved_name.h"
#include "tests/support/run_loop.h"
#include "tests/support/sockets.h"
#include "tests/unit/proxy/net/fake_dns.h"

namespace portico::net {
namespace {

using core::Fault;
using tests::FakeDns;
using tests::ScratchDirectory;
using namespace std::chrono_literals;
using Texts = std::vector<std::string>;

Texts texts(const std::vector<Address>& addresses) {
  Texts out;
  for (const Address& address : addresses) out.push_back(address.text());
  return out;
}

struct Fixture {
  Fixture() { std::ofstream(scratch.file("hosts")) << "10.9.8.7 here.example here\n"; }
  ResolverOptions options() {
    return {.hosts_file = scratch.file("hosts"),
            .servers = {dns.address()},
            .try_wait = 40ms,
            .tries = 1};
  }
  /// Runs until the lookup has an outcome.
  core::Result<Answer> resolve(const std::string& name, std::uint16_t port = 80) {
    std::optional<Lookup> lookup;
    std::optional<core::Result<Answer>> outcome;
    tests::Agent owner(loop, [&] {
      const auto result = lookup->take();
      if (result && !*result) return;
      outcome.emplace(result ? core::Result<Answer>(**result) : result.error());
      loop.stop();
    });
    lookup.emplace(resolver, owner, name, port);
    REQUIRE(tests::run_loop(loop));
    return *outcome;
  }

  core::Loop loop;
  ScratchDirectory scratch;
  FakeDns dns{loop};
  Resolver resolver{loop, options()};
};

/// A ResolvedName and what its user has seen.
struct Watched {
  Watched(Fixture& fixture, const std::string& name,
          std::function<bool(const ResolvedName&)> wanted)
      : loop(fixture.loop), user(loop, [this, wanted = std::move(wanted)] {
          if (wanted(*name_)) loop.stop();
        }) {
    const Freshness quick{
        .shortest_ttl = 10ms, .longest_ttl = 20ms, .first_retry = 5ms, .longest_retry = 10ms};
    name_.emplace(fixture.resolver, user, name, std::uint16_t{80}, quick);
  }
  bool seen() { return tests::run_loop(loop); }

  core::Loop& loop;
  tests::Agent user;
  std::optional<ResolvedName> name_;
};

}  // namespace

TEST_CASE("resolver: a name's IPv4 and IPv6 addresses, with the port and the TTL") {
  Fixture f;
  f.dns.know("app.example", {"192.0.2.1", "192.0.2.2", "2001:db8::1"});
  const auto answer = f.resolve("app.example", 8000);
  REQUIRE(answer);
  auto addresses = answer->addresses;
  std::sort(addresses.begin(), addresses.end());
  CHECK(texts(addresses) == Texts{"192.0.2.1:8000", "192.0.2.2:8000", "[2001:db8::1]:8000"});
  CHECK(answer->ttl == 60s);
}

TEST_CASE("resolver: the hosts file comes first, and is read again when it has changed") {
  Fixture f;
  f.dns.know("here.example", {"192.0.2.9"});
  CHECK(texts(f.resolve("HERE.example")->addresses) == Texts{"10.9.8.7:80"});
  CHECK(f.dns.questions == 0);
  std::ofstream(f.scratch.file("hosts")) << "# nothing of ours is left\n";
  CHECK(texts(f.resolve("here.example")->addresses) == Texts{"192.0.2.9:80"});
}

TEST_CASE("resolver: localhost needs neither file nor DNS (RFC 6761 6.3)") {
  Fixture f;
  for (const std::string name : {"localhost", "LOCALHOST.", "api.localhost"})
    CHECK(texts(f.resolve(name)->addresses) == Texts{"127.0.0.1:80", "[::1]:80"});
  CHECK(f.dns.questions == 0);
}

TEST_CASE("resolver: an address is its own answer") {
  Fixture f;
  CHECK(texts(f.resolve("192.0.2.7")->addresses) == Texts{"192.0.2.7:80"});
  CHECK(f.dns.questions == 0);
}

TEST_CASE("resolver: each way to fail has its reason") {
  Fixture f;
  const auto reason = [&f](const std::string& name) {
    const auto answer = f.resolve(name);
    REQUIRE_FALSE(answer);
    CHECK(answer.error().fault == Fault::name_unresolved);
    return answer.error().doing;
  };
  f.dns.know("empty.example", {});
  CHECK(reason("none.example") == "resolving a name that does not exist");
  CHECK(reason("empty.example") == "resolving a name that has no address");
  CHECK(reason("two..dots") == "resolving a malformed name");
  f.dns.mood = FakeDns::Mood::failing;
  CHECK(reason("none.example") == "resolving a name: no DNS server gives an answer");
  f.dns.mood = FakeDns::Mood::silent;
  CHECK(reason("none.example") == "resolving a name: no DNS server gives an answer");
}

TEST_CASE("resolver: a lookup that is gone is answered to nobody") {
  Fixture f;
  f.dns.know("app.example", {"192.0.2.1"});
  tests::Agent owner(f.loop, [] {});
  { const Lookup lookup(f.resolver, owner, "app.example", 80); }
  CHECK(f.resolve("app.example"));
  CHECK(owner.runs == 0);
}

TEST_CASE("resolver: the end of a resolver ends its questions") {
  Fixture f;
  f.dns.mood = FakeDns::Mood::silent;
  tests::Agent owner(f.loop, [] {});
  auto resolver = std::make_unique<Resolver>(f.loop, f.options());
  const Lookup lookup(*resolver, owner, "app.example", 80);
  resolver.reset();
  CHECK_FALSE(lookup.take());
}

TEST_CASE("resolved name: follows the name's addresses") {
  Fixture f;
  f.dns.ttl = 0;
  f.dns.know("app.example", {"192.0.2.2", "192.0.2.1", "192.0.2.1"});
  Texts expected{"192.0.2.1:80", "192.0.2.2:80"};
  Watched watched(f, "app.example",
                  [&](const ResolvedName& name) { return texts(name.addresses()) == expected; });
  CHECK_FALSE(watched.name_->known());
  REQUIRE(watched.seen());
  CHECK(watched.name_->known());
  f.dns.know("app.example", {"192.0.2.3"});
  expected = {"192.0.2.3:80"};
  REQUIRE(watched.seen());
  CHECK(watched.user.runs == 2);
}

TEST_CASE("resolved name: keeps the last good addresses while DNS fails, marked stale") {
  Fixture f;
  f.dns.ttl = 0;
  f.dns.know("app.example", {"192.0.2.1"});
  bool stale = false;
  Watched watched(f, "app.example",
                  [&](const ResolvedName& name) { return name.known() && name.stale() == stale; });
  REQUIRE(watched.seen());
  f.dns.mood = FakeDns::Mood::failing;
  stale = true;
  REQUIRE(watched.seen());
  CHECK(texts(watched.name_->addresses()) == Texts{"192.0.2.1:80"});
  CHECK(watched.name_->error().fault == Fault::name_unresolved);
  f.dns.mood = FakeDns::Mood::answers;
  stale = false;
  REQUIRE(watched.seen());
}

TEST_CASE("resolved name: a name that does not resolve yet is asked for until it does") {
  Fixture f;
  Watched watched(f, "late.example", [](const ResolvedName& name) {
    return name.stale() || !name.addresses().empty();
  });
  REQUIRE(watched.seen());
  CHECK(watched.name_->addresses().empty());
  CHECK_FALSE(watched.name_->known());
  f.dns.know("late.example", {"192.0.2.1"});
  REQUIRE(watched.seen());
  CHECK(texts(watched.name_->addresses()) == Texts{"192.0.2.1:80"});
}

TEST_CASE("resolved name: failures are retried with back-off from 1 s to 30 s") {
  core::Loop loop(core::Loop::Drive::by_hand);
  Resolver resolver(loop, {.hosts_file = "/nonexistent", .servers = {tests::loopback(1)}});
  int failures = 0;
  tests::Agent user(loop, [&] { ++failures; });
  ResolvedName name(resolver, user, "two..dots", 80);  // fails without asking anybody
  loop.turn();
  CHECK(failures == 1);
  std::vector<int> waits;
  for (const int seconds : {1, 2, 4, 8, 16, 30, 30}) {
    const core::Time before = loop.now();
    loop.pass(std::chrono::seconds(seconds) - 1ms);
    CHECK(name.attempts() == waits.size() + 1);
    loop.pass(1ms);
    waits.push_back(seconds);
    CHECK(name.attempts() == waits.size() + 1);
    CHECK(loop.now() - before == std::chrono::seconds(seconds));
  }
  CHECK(failures == 1);
}

}  // namespace portico::net
