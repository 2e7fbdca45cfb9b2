// When a request may be given to another candidate: every combination of facts against the rule as
// it is written down, and the budget.
#include "balancer/retry.h"

#include <catch2/catch.hpp>

namespace portico::balancer {
namespace {

// The rule, slowly: "when it was never begun, or when its method is idempotent and a reused
// connection closed before any byte of the answer; never otherwise, never after a byte went to the
// client", and nothing of the body was taken, and once at most; GET and HEAD also on a fresh one.
bool by_the_book(const Attempt& attempt) {
  if (attempt.client_got) return false;
  if (!attempt.body_intact) return false;
  if (attempt.reached == Reached::nothing) return true;
  if (attempt.reached == Reached::answer) return false;
  if (!attempt.closed || attempt.resent != 0) return false;
  return (attempt.idempotent && attempt.reused) || (attempt.safe && !attempt.reused);
}

TEST_CASE("retry: all combinations of facts follow the rule") {
  for (unsigned bits = 0; bits < 128; ++bits) {
    for (const Reached reached : {Reached::nothing, Reached::connection, Reached::answer}) {
      Attempt attempt;
      attempt.reached = reached;
      attempt.closed = bits & 1;
      attempt.reused = bits & 2;
      attempt.idempotent = bits & 4;
      attempt.body_intact = bits & 8;
      attempt.client_got = bits & 16;
      attempt.resent = bits & 32 ? 1 : 0;
      attempt.safe = bits & 64;
      CAPTURE(bits, static_cast<int>(reached));
      const Retry retry = may_retry(attempt);
      CHECK((retry == Retry::freely || retry == Retry::budgeted) == by_the_book(attempt));
    }
  }
}

TEST_CASE("retry: what was not begun costs no budget, what may have been does") {
  Attempt attempt;
  CHECK(may_retry(attempt) == Retry::freely);
  attempt.reached = Reached::connection;
  attempt.closed = attempt.reused = attempt.idempotent = true;
  CHECK(may_retry(attempt) == Retry::budgeted);
}

TEST_CASE("retry: what a fresh connection lost goes on for GET and HEAD alone, once") {
  Attempt attempt;
  attempt.reached = Reached::connection;
  attempt.closed = attempt.idempotent = attempt.safe = true;
  CHECK(may_retry(attempt) == Retry::budgeted);
  attempt.safe = false;  // PUT
  CHECK(may_retry(attempt) == Retry::never);
  attempt.safe = true;
  attempt.resent = 1;
  CHECK(may_retry(attempt) == Retry::never);
}

TEST_CASE("retry budget: the reserve, then one for five requests") {
  RetryBudget budget;
  int taken = 0;
  while (budget.take()) ++taken;
  CHECK(taken == RetryBudget::reserve);
  for (int i = 0; i < 4; ++i) budget.request();
  CHECK_FALSE(budget.take());
  budget.request();
  CHECK(budget.take());
  CHECK_FALSE(budget.take());
}

TEST_CASE("retry budget: what is saved up is bounded") {
  RetryBudget budget;
  for (int i = 0; i < 1'000'000; ++i) budget.request();
  int taken = 0;
  while (budget.take()) ++taken;
  CHECK(taken == RetryBudget::most);
}

}  // namespace
}  // namespace portico::balancer
