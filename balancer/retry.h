// Retry: whether a request that came to nothing may be given to the next candidate.
//
// Pure facts in, a choice out; any thread. Rules: RFC 9110 §9.2.2 (what is idempotent), RFC 9112
// §9.3.1 (a kept connection may close at any moment). The next candidate is asked when the request
// was never begun (its claim was revoked, the connect failed); when its method is idempotent and a
// reused connection closed before any byte of the answer; and for GET and HEAD also when a fresh
// one did, since the endpoint may have been killed: the rule for workers that die. Never otherwise,
// and never once a byte of an answer went to the client. What was perhaps begun is sent again once
// after a reused connection, which may just have been too old, and once after a fresh one, so that
// a request which kills endpoints does not go through all of them; and within a budget: retries
// must not multiply the load of endpoints that are already ill.
#pragma once

#include <atomic>
#include <cstdint>

namespace portico::balancer {

/// How far an attempt got.
enum class Reached : std::uint8_t {
  nothing,     ///< not connected, or the claim was revoked: surely not begun
  connection,  ///< (part of) the request was sent, no byte of an answer came
  answer,      ///< bytes of an answer came
};

/// Facts about a failed attempt and its request.
struct Attempt {
  Reached reached = Reached::nothing;
  bool closed = false;      ///< the endpoint closed or reset the connection (no timeout, no error)
  bool reused = false;      ///< the connection had carried a request before
  bool idempotent = false;  ///< the method (RFC 9110 §9.2.2)
  bool safe = false;        ///< it is GET or HEAD
  bool body_intact = true;  ///< nothing of the request's body has been taken
  bool client_got = false;  ///< a byte of an answer (1xx as well) went to the client
  unsigned resent = 0;      ///< how often it was sent again after a loss on such a connection
};

enum class Retry : std::uint8_t {
  never,
  freely,    ///< it was not begun: another endpoint costs nothing
  budgeted,  ///< it may have been begun: only if RetryBudget::take() agrees
};

Retry may_retry(const Attempt& attempt);

/// Lets retries be 20 % of the requests, counted as tokens: each request brings a fifth of one.
/// `reserve` stand at the start, so that a pool with little traffic may retry too; what is saved up
/// is bounded, so that a quiet day does not pay for a storm. Shared by the front threads.
class RetryBudget {
 public:
  static constexpr std::int64_t requests_a_retry = 5;
  static constexpr std::int64_t reserve = 100;
  static constexpr std::int64_t most = 1000;

  void request();  ///< one more request has come
  bool take();     ///< one retry; false: the budget is used up

 private:
  std::atomic<std::int64_t> fifths_ = reserve * requests_a_retry;
};

}  // namespace portico::balancer
