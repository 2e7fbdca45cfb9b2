// ForwardTask: one exchange on its way to an endpoint and back; see forward.h for the rules.
//
// Owned by its exchange, run by the exchange's loop. Destroying it gives up its place in the queue,
// its lease and its connection, in that order of members.
#pragma once

#include <memory>
#include <string>

#include "balancer/pool.h"
#include "conf/config.h"
#include "proxy/client/dialer.h"
#include "proxy/client/stream.h"
#include "proxy/core/admission.h"
#include "proxy/core/recycled.h"
#include "proxy/core/timer.h"
#include "proxy/route/live_pool.h"
#include "proxy/route/pools.h"
#include "proxy/serve/exchange.h"
#include "proxy/serve/handler.h"

namespace portico::route {

/// What the tasks of one route have in common; part of its handler.
struct ForwardTo {
  conf::Timeouts timeouts;
  std::shared_ptr<LivePool> pool;
  Pools& pools;
};

class ForwardTask final : public serve::Task,
                          public core::Active,
                          public core::Recycled<ForwardTask> {
 public:
  ForwardTask(serve::Exchange& exchange, const ForwardTo& to);

  void begin();
  void advance() override;
  void client_finished() override;

 private:
  enum class State : std::uint8_t {
    queued,         // from the beginning, and after an attempt that may be repeated
    holding,        // no endpoint is usable: until one comes back, or the time is over
    connecting,     // an endpoint is chosen, no kept connection was there
    sending,        // the request is on its way
    awaiting_head,  // it has left; until the final head
    relaying,       // the exchange has the answer; until its body is complete
    over,           // failed or tunnelled: nothing to do any more
  };

  bool prepare();
  bool step();

  // queued, holding, connecting (forward_task_queue.cc)
  bool waits() const;
  void wait_until(core::Time when);
  bool queue();
  bool enter_queue();
  bool choose();
  bool hold();
  bool wait_for_return();
  bool end_hold();
  bool give_up_hold();
  bool dial();
  bool dial_next();
  bool connect();
  static bool failed_to_connect(const core::Error& error);

  // sending, awaiting_head, relaying
  bool send();
  bool ask();
  bool inform();
  bool answer();
  bool tunnel();
  bool relay();

  // the end of an attempt
  bool attempt_failed(const core::Error& error);
  void note_failure(const core::Error& error);
  balancer::Retry may_repeat(const core::Error& error);
  balancer::Attempt facts_of_attempt(const core::Error& error);
  unsigned& resent();  // of the present attempt's kind of connection
  bool fail(const core::Error& error);

  core::Time now() const { return loop().now(); }
  LiveEndpoint& endpoint() const { return *to_.pool->endpoint(lease_.member()); }

  serve::Exchange& exchange_;
  const ForwardTo& to_;
  State state_ = State::queued;
  std::string target_;                // where path and query are not one text already
  bool upgrade_ = false;              // the client asks for a WebSocket, properly
  bool takes_trailers_ = false;       // the client does
  bool client_got_ = false;           // a 1xx went to the client
  bool fresh_only_ = false;           // a kept connection has failed this request already
  bool may_return_ = false;           // to the same endpoint, where there is no other
  unsigned resent_after_reused_ = 0;  // losses of kept connections that were made good
  unsigned resent_after_fresh_ = 0;   // likewise of new ones
  core::Error last_error_;            // of the latest attempt
  core::Time hold_until_ = core::Time::max();
  core::Time connect_until_{};
  core::Time give_up_at_ = core::Time::max();  // the client has ended its side

  balancer::Candidates candidates_;
  core::Timer timer_;
  core::Ticket ticket_;
  balancer::Lease lease_;
  LiveEndpoint::Addresses addresses_;  // of the endpoint, while connecting
  std::size_t address_ = 0;            // which of them is being tried
  std::size_t addresses_left_ = 0;
  std::unique_ptr<client::Dial> dial_;
  std::unique_ptr<client::Stream> stream_;
};

}  // namespace portico::route
