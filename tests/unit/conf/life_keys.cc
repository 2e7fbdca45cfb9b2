#include "conf/life_keys.h"

#include <catch2/catch.hpp>

#include "tests/unit/conf/texts.h"

using namespace portico::conf;
using namespace portico::conf::testing;
using std::chrono::hours;
using std::chrono::minutes;

namespace {

Loaded load_site(const std::string& keys) {
  return load_text("sites:\n  a.example:\n    wsgi: a\n    directory: /a\n" + keys);
}

Application application(const std::string& keys) {
  const Loaded loaded = load_site(keys);
  REQUIRE(lines(loaded.problems) == std::vector<std::string>{});
  return loaded.config.applications.at(0);
}

std::string problem(const std::string& keys) {
  const Loaded loaded = load_site(keys);
  REQUIRE(loaded.problems.size() == 1);
  return loaded.problems.front().what;
}

}  // namespace

TEST_CASE("life keys: two workers that stay, and live for ever, when nothing is written") {
  const Application plain = application("");
  CHECK(plain.workers == 2);
  CHECK_FALSE(plain.demand);
  CHECK(plain.recycle == Recycle{});
}

TEST_CASE("life keys: a number of workers is always there") {
  CHECK(application("    workers: 1\n").workers == 1);
  CHECK(application("    workers: 1000\n").workers == 1000);
  CHECK_FALSE(application("    workers: 7\n").demand);
  for (const std::string wrong : {"0", "1001", "many"})
    CHECK(problem("    workers: " + wrong + "\n").starts_with("\"" + wrong + "\" "));
}

TEST_CASE("life keys: between min and max workers come and go") {
  const Application sleeps = application("    workers: {min: 0, max: 4, idle: 90s}\n");
  CHECK(sleeps.workers == 4);
  CHECK(sleeps.demand == Demand{0, std::chrono::seconds(90)});
  CHECK(application("    workers: {min: 0}\n").demand == Demand{0, minutes(10)});
  CHECK(application("    workers: {max: 3}\n").demand == Demand{1, minutes(10)});
}

TEST_CASE("life keys: a min as large as max, or alone above the usual number, is a number") {
  CHECK_FALSE(application("    workers: {min: 3, max: 3}\n").demand);
  const Application five = application("    workers: {min: 5}\n");
  CHECK(five.workers == 5);
  CHECK_FALSE(five.demand);
  CHECK(problem("    workers: {min: 3, max: 2}\n") ==
        "\"min\" is more than \"max\"; write at most 2");
}

TEST_CASE("life keys: each reason to recycle can be written alone") {
  CHECK(application("    recycle: {requests: 5}\n").recycle.requests == 5);
  CHECK(application("    recycle: {memory: 1MiB}\n").recycle.memory == 1024 * 1024);
  CHECK(application("    recycle: {lifetime: 24h}\n").recycle.lifetime == hours(24));
  CHECK(application("    recycle: {jitter: 25%}\n").recycle.jitter == 25);
  CHECK(application("    recycle: {jitter: 0%}\n").recycle.jitter == 0);
}

TEST_CASE("life keys: a lifetime of less than a second is mostly start, and refused") {
  CHECK(application("    recycle: {lifetime: 1s}\n").recycle.lifetime == std::chrono::seconds(1));
  CHECK(problem("    recycle: {lifetime: 999ms}\n").find("write at least \"1s\"") !=
        std::string::npos);
}

TEST_CASE("life keys: what is no share is refused as a jitter") {
  CHECK_FALSE(problem("    recycle: {jitter: 0.1}\n").empty());
  CHECK_FALSE(problem("    recycle: {jitter: 101%}\n").empty());
}
