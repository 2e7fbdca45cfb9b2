// Rise and fall as tables: a row of results, and the condition after each.
#include "balancer/health.h"

#include <catch2/catch.hpp>
#include <string>
#include <string_view>

namespace portico::balancer {
namespace {

// results  '+' well, '-' ill
// Returns  'p' probing, 'u' up, 'd' down after each
std::string conditions(std::string_view results, const Thresholds& thresholds) {
  Health health;
  std::string seen;
  for (const char result : results)
    seen += name(health.report(result == '+' ? Probed::well : Probed::ill, thresholds)).front();
  return seen;
}

TEST_CASE("health: a new member is probing, and its first result decides alone") {
  CHECK(Health().condition() == Condition::probing);
  CHECK(conditions("+", {2, 3}) == "u");
  CHECK(conditions("-", {2, 3}) == "d");
}

TEST_CASE("health: rise successes in a row bring up, fall failures in a row take down") {
  struct Row {
    std::string_view results, expected;
    Thresholds thresholds;
  };
  const Row rows[] = {
      {"+---", "uuud", {2, 3}},
      {"+--+--+---", "uuuuuuuuud", {2, 3}},  // a success between starts the count anew
      {"-++", "ddu", {2, 3}},
      {"-+-++", "ddddu", {2, 3}},  // and so does a failure
      {"+-+-+", "ududu", {1, 1}},
      {"+---++---", "uuuduuuud", {1, 3}},
      {"-+++++", "dddddu", {5, 1}},
  };
  for (const Row& row : rows) {
    CAPTURE(row.results);
    CHECK(conditions(row.results, row.thresholds) == row.expected);
  }
}

TEST_CASE("health: results that confirm the condition change nothing, however many") {
  CHECK(conditions("++++++++---", {2, 3}) == "uuuuuuuuuud");
  CHECK(conditions("--------++", {2, 3}) == "dddddddddu");
}

}  // namespace
}  // namespace portico::balancer
