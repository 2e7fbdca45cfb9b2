#include "balancer/retry.h"

namespace portico::balancer {

Retry may_retry(const Attempt& attempt) {
  if (attempt.client_got || !attempt.body_intact) return Retry::never;
  if (attempt.reached == Reached::nothing) return Retry::freely;
  const bool unanswered = attempt.reached == Reached::connection && attempt.closed;
  const bool repeatable = attempt.reused ? attempt.idempotent : attempt.safe;
  return unanswered && repeatable && attempt.resent == 0 ? Retry::budgeted : Retry::never;
}

void RetryBudget::request() {
  // Full nearly always: then only a shared read. A few too many by racing threads do no harm.
  if (fifths_.load(std::memory_order_relaxed) < most * requests_a_retry)
    fifths_.fetch_add(1, std::memory_order_relaxed);
}

bool RetryBudget::take() {
  std::int64_t have = fifths_.load(std::memory_order_relaxed);
  while (have >= requests_a_retry) {
    if (fifths_.compare_exchange_weak(have, have - requests_a_retry, std::memory_order_relaxed))
      return true;
  }
  return false;
}

}  // namespace portico::balancer
