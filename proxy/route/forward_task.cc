#include "proxy/route/forward_task.h"

#include <algorithm>
#include <utility>

#include "proxy/client/connections.h"
#include "proxy/core/log.h"
#include "proxy/http/hop.h"
#include "proxy/http/websocket.h"
#include "proxy/route/forward_fields.h"

namespace portico::route {
namespace {

using core::Error;
using core::Fault;

// Between two rounds over candidates that all refused but are not known to be down yet.
constexpr core::Duration round_pause = std::chrono::milliseconds(100);

bool failed_to_connect(Fault fault) {
  return fault == Fault::connection_refused || fault == Fault::connection_failed ||
         fault == Fault::connect_timeout;
}

bool closed(Fault fault) {
  return fault == Fault::endpoint_closed || fault == Fault::endpoint_reset;
}

bool has_body(const http::Framing& framing) {
  return framing.kind == http::Framing::Kind::chunked ||
         (framing.kind == http::Framing::Kind::length && framing.length > 0);
}

}  // namespace

ForwardTask::ForwardTask(serve::Exchange& exchange, const ForwardTo& to)
    : core::Active(exchange.loop()),
      exchange_(exchange),
      to_(to),
      candidates_(to.pool->balancer().candidates(0)),
      timer_(*this),
      ticket_(*this) {}

void ForwardTask::begin() {
  if (prepare()) advance();
}

// Asks the head what it wants of the connection before what belongs to the connection is removed.
bool ForwardTask::prepare() {
  http::RequestHead& request = exchange_.mutable_request();
  const auto upgrade = http::websocket_upgrade(request);
  if (!upgrade) return fail(upgrade.error());
  upgrade_ = *upgrade;
  takes_trailers_ = http::accepts_trailers(request.fields);
  http::drop_request_hop_fields(request.fields);
  if (upgrade_) request.fields.add("upgrade", "websocket");
  // The router has made Host what was routed by; a client of HTTP/1.0 may have named none.
  if (!request.fields.has("host")) request.fields.add("host", "localhost");
  const http::Target& where = request.where;
  if (where.has_query) target_.append(where.path).append("?").append(where.query);
  to_.pool->balancer().retry_budget().request();
  return true;
}

void ForwardTask::advance() {
  while (step()) continue;
}

// True: moved on, there may be more to do. False: this object may be told to go, do not touch it.
bool ForwardTask::step() {
  switch (state_) {
    case State::queued:
      return queue();
    case State::holding:
      return end_hold();
    case State::connecting:
      return connect();
    case State::sending:
    case State::awaiting_head:
      return ask();
    case State::relaying:
      return relay();
    case State::over:
      return false;
  }
  return false;
}

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
  timer_.set_after(to_.timeouts.queue);
  return true;
}

bool ForwardTask::choose() {
  lease_ = candidates_.next(now());
  if (!lease_ && resent_ > 0) {  // after a lost race: with a fresh connection to the same one
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
  timer_.set(std::min(hold_until_, now() + round_pause));
  return false;
}

// The ticket is admitted when an endpoint is usable again, at once if that has just happened.
bool ForwardTask::wait_for_return() {
  if (!ticket_.enter(to_.pool->admission())) return fail({Fault::queue_full, 0, "queueing"});
  timer_.set(std::min(hold_until_, to_.pool->balancer().next_return(now())));
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
    const bool more = addresses_left_ > 0 && failed_to_connect(error.fault) &&
                      error.fault != Fault::connect_timeout;
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

bool ForwardTask::send() {
  const http::RequestHead& head = exchange_.request();
  exchange_.trace().connected = now();
  client::Request request;
  request.method = head.method;
  request.target = head.where.has_query ? std::string_view(target_) : head.where.path;
  request.fields = &head.fields;
  request.framing = head.framing;
  request.body = has_body(head.framing) ? &exchange_.request_body() : nullptr;
  request.upgrade = upgrade_ ? &head : nullptr;
  request.takes_trailers = takes_trailers_;
  request.silence = to_.timeouts.response;
  request.keep = to_.timeouts.idle;
  stream_->start(request, *this);
  state_ = State::sending;
  return true;
}

bool ForwardTask::ask() {
  switch (stream_->next()) {
    case client::Stream::Event::wait:
      if (stream_->facts().request_sent) state_ = State::awaiting_head;
      return false;
    case client::Stream::Event::informed:
      return inform();
    case client::Stream::Event::head:
      return answer();
    case client::Stream::Event::upgraded:
      return tunnel();
    case client::Stream::Event::fail:
      break;
  }
  return attempt_failed(stream_->error());
}

bool ForwardTask::inform() {
  http::ResponseHead head = stream_->take_head();
  prepare_response(head);
  client_got_ = true;
  exchange_.inform(std::move(head));
  return true;
}

bool ForwardTask::answer() {
  http::ResponseHead head = stream_->take_head();
  prepare_response(head);
  lease_.endpoint().succeeded(now());
  exchange_.trace().first_byte = now();
  state_ = State::relaying;
  exchange_.respond(std::move(head), std::move(stream_));
  return false;
}

bool ForwardTask::tunnel() {
  http::ResponseHead head = stream_->take_head();
  prepare_response(head);
  head.fields.add("upgrade", "websocket");
  lease_.endpoint().succeeded(now());
  exchange_.trace().first_byte = now();
  state_ = State::over;
  std::unique_ptr<net::Transport> transport = stream_->take_transport();
  stream_.reset();
  exchange_.tunnel(std::move(head), std::move(transport));
  return false;
}

// The stream wakes for the last time when the endpoint has said all: from now on a slow client
// keeps nothing of the pool's.
bool ForwardTask::relay() {
  lease_ = {};
  ticket_.leave();
  state_ = State::over;
  return false;
}

bool ForwardTask::attempt_failed(const Error& error) {
  note_failure(error);
  const bool again = may_repeat(error);
  last_error_ = error;
  stream_.reset();
  lease_ = {};
  if (!again) return fail(error);
  state_ = State::queued;
  return true;
}

// What counts against an endpoint is in balancer/outlier.h.
void ForwardTask::note_failure(const Error& error) {
  const bool fresh = stream_ && !stream_->facts().reused && !stream_->facts().answer_began;
  if (!failed_to_connect(error.fault) && !(fresh && closed(error.fault))) return;
  balancer::Endpoint& state = lease_.endpoint();
  const bool was_usable = state.usable(now());
  state.failed(now(), to_.pool->balancer().outlier_rule());
  if (!was_usable || state.usable(now())) return;
  to_.pool->recount(now());
  core::log(core::Level::warning, "pool " + to_.pool->written().name + ": endpoint " +
                                      state.name() + " is out for a while (" +
                                      core::describe(error) + ")");
}

bool ForwardTask::may_repeat(const Error& error) {
  if (core::fault_info(error.fault).side != core::Side::endpoint) return false;
  balancer::Attempt attempt;
  if (stream_) {
    const client::Stream::Facts facts = stream_->facts();
    attempt.reached =
        facts.answer_began ? balancer::Reached::answer : balancer::Reached::connection;
    attempt.reused = facts.reused;
    attempt.body_intact = !facts.body_taken;
  }
  attempt.closed = closed(error.fault);
  attempt.idempotent = http::idempotent(exchange_.request().method);
  attempt.client_got = client_got_;
  attempt.resent = resent_;
  const balancer::Retry retry = balancer::may_retry(attempt);
  if (retry != balancer::Retry::budgeted) return retry == balancer::Retry::freely;
  if (!to_.pool->balancer().retry_budget().take()) return false;
  fresh_only_ = true;
  ++resent_;
  return true;
}

// Gives everything back before the exchange hears of it.
bool ForwardTask::fail(const Error& error) {
  state_ = State::over;
  stream_.reset();
  dial_.reset();
  lease_ = {};
  ticket_.leave();
  exchange_.fail(error);
  return false;
}

void ForwardTask::client_finished() {
  if (state_ == State::queued || state_ == State::holding)
    fail({Fault::client_gone, 0, "waiting in the queue"});
}

}  // namespace portico::route
