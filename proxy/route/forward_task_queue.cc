// The queued, holding and connecting states of a ForwardTask: until it has a connection.
#include <algorithm>
#include <utility>

#include "proxy/client/connections.h"
#include "proxy/route/forward_task.h"

namespace portico::route {
namespace {

using core::Error;
using core::Fault;

// Between two rounds over candidates that all refused but are not known to be down yet.
constexpr core::Duration round_pause = std::chrono::milliseconds(100);

}  // namespace

bool ForwardTask::failed_to_connect(const Error& error) {
  return error.fault == Fault::connection_refused || error.fault == Fault::connection_failed ||
         error.fault == Fault::connect_timeout;
}

void ForwardTask::wait_until(core::Time when) { timer_.set(std::min(when, give_up_at_)); }

bool ForwardTask::queue() {
  if (to_.pool->capped() && !ticket_.admitted()) return enter_queue();
  return choose();
}

bool ForwardTask::enter_queue() {
  if (ticket_.waiting())
    return timer_.due() ? fail({Fault::queue_timeout, 0, "waiting for a place at an endpoint"})
                        : false;
  if (to_.pool->recount(now()) == 0) return hold();
  if (!ticket_.enter(to_.pool->admission())) return fail({Fault::queue_full, 0, "queueing"});
  wait_until(now() + to_.timeouts.queue);
  return true;
}

bool ForwardTask::choose() {
  lease_ = candidates_.next(now());
  if (!lease_ && std::exchange(may_return_, false)) {
    candidates_.restart();
    lease_ = candidates_.next(now());
  }
  if (!lease_) return hold();
  timer_.clear();
  serve::Trace& trace = exchange_.trace();
  trace.handed_over = now();
  trace.upstream = lease_.endpoint().name();
  ++trace.attempts;
  if (!fresh_only_) stream_ = to_.pools.connections(loop()).reuse(endpoint());
  return stream_ ? send() : dial();
}

bool ForwardTask::hold() {
  if (hold_until_ == core::Time::max())
    hold_until_ = now() + std::min(to_.timeouts.queue, to_.timeouts.connect);
  if (now() >= hold_until_ || last_error_.fault == Fault::connect_timeout) return give_up_hold();
  state_ = State::holding;
  ticket_.leave();
  if (to_.pool->recount(now()) == 0) return wait_for_return();
  wait_until(std::min(hold_until_, now() + round_pause));
  return false;
}

// The ticket is admitted when an endpoint is usable again, at once if that has just happened.
bool ForwardTask::wait_for_return() {
  if (!ticket_.enter(to_.pool->admission())) return fail({Fault::queue_full, 0, "queueing"});
  wait_until(std::min(hold_until_, to_.pool->balancer().next_return(now())));
  return ticket_.admitted();
}

bool ForwardTask::end_hold() {
  const bool admitted = ticket_.admitted();
  if (!admitted && !timer_.due()) return false;
  if (!admitted && now() >= hold_until_) return give_up_hold();
  if (!admitted || !to_.pool->capped()) ticket_.leave();
  candidates_.restart();
  state_ = State::queued;
  return true;
}

bool ForwardTask::give_up_hold() {
  if (last_error_.fault == Fault::connect_timeout) return fail(last_error_);
  exchange_.trace().retry_after = to_.pool->retry_after();
  const balancer::Pool& balancer = to_.pool->balancer();
  bool named = true;
  for (std::size_t member = 0; member < balancer.size(); ++member)
    named &= balancer.endpoint(member).outage(now()) != balancer::Outage::name;
  const Fault fault = named ? Fault::no_endpoint : Fault::name_unresolved;
  return fail({fault, last_error_.os, "waiting for an endpoint to come back"});
}

// A name may have several addresses: tried one after the other, beginning with the one that worked
// last, within one connect timeout.
bool ForwardTask::dial() {
  addresses_ = endpoint().addresses();
  if (addresses_->empty()) return attempt_failed({Fault::connection_failed, 0, "connecting"});
  addresses_left_ = addresses_->size();
  address_ = endpoint().preferred() % addresses_left_;
  connect_until_ = now() + to_.timeouts.connect;
  state_ = State::connecting;
  return dial_next();
}

bool ForwardTask::dial_next() {
  --addresses_left_;
  dial_ = to_.pools.dialer().dial(*this, (*addresses_)[address_], connect_until_ - now());
  return true;
}

bool ForwardTask::connect() {
  auto connected = dial_->take();
  if (!connected) {
    const Error error = connected.error();
    dial_.reset();
    const bool more =
        addresses_left_ > 0 && failed_to_connect(error) && error.fault != Fault::connect_timeout;
    if (!more) return attempt_failed(error);
    address_ = (address_ + 1) % addresses_->size();
    return dial_next();
  }
  if (*connected == nullptr) return false;
  dial_.reset();
  endpoint().prefer(address_);
  client::Connections& connections = to_.pools.connections(loop());
  stream_ = connections.open(to_.pool->endpoint(lease_.member()), std::move(*connected));
  return send();
}

}  // namespace portico::route
