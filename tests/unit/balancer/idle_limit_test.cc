// How long idle connections are trusted, and what teaches it (uvicorn closes after 5 s, gunicorn
// after 2 s: a POST on such a connection must not become a 502).
#include "balancer/idle_limit.h"

#include <catch2/catch.hpp>

namespace portico::balancer {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

const Time start = Time() + std::chrono::hours(1);

TEST_CASE("idle limit: as configured as long as nothing is known") {
  CHECK(IdleLimit().within(seconds(60), start) == seconds(60));
}

TEST_CASE("idle limit: a second less than the endpoint says, never more than configured") {
  IdleLimit limit;
  limit.told(seconds(5), start);
  CHECK(limit.within(seconds(60), start) == seconds(4));
  CHECK(limit.within(seconds(3), start) == seconds(3));
}

TEST_CASE("idle limit: of less than two seconds half is used, of none nothing to speak of") {
  IdleLimit limit;
  limit.told(seconds(1), start);
  CHECK(limit.within(seconds(60), start) == milliseconds(500));
  limit.told(seconds(0), start);
  CHECK(limit.within(seconds(60), start) <= milliseconds(1));
}

TEST_CASE("idle limit: two closes in a row at about the same age teach it") {
  IdleLimit limit;
  limit.closed_after(milliseconds(5010), start);
  CHECK(limit.within(seconds(60), start) == seconds(60));
  limit.closed_after(milliseconds(5190), start);
  CHECK(limit.within(seconds(60), start) == milliseconds(4010));
}

TEST_CASE("idle limit: closes at different ages are restarts, not limits") {
  IdleLimit limit;
  for (const int age : {2000, 9000, 3000, 30000}) limit.closed_after(milliseconds(age), start);
  CHECK(limit.within(seconds(60), start) == seconds(60));
}

TEST_CASE("idle limit: closes of young connections teach nothing") {
  IdleLimit limit;
  for (int i = 0; i < 10; ++i) limit.closed_after(milliseconds(999), start);
  CHECK(limit.within(seconds(60), start) == seconds(60));
}

TEST_CASE("idle limit: what was learned is forgotten after ten minutes") {
  IdleLimit limit;
  limit.told(seconds(5), start);
  CHECK(limit.within(seconds(60), start + minutes(10)) == seconds(4));
  CHECK(limit.within(seconds(60), start + minutes(10) + seconds(1)) == seconds(60));
}

}  // namespace
}  // namespace portico::balancer
