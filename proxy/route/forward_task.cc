#include "proxy/route/forward_task.h"

#include <utility>

#include "proxy/core/log.h"
#include "proxy/http/hop.h"
#include "proxy/http/websocket.h"
#include "proxy/route/forward_fields.h"

namespace portico::route {
namespace {

using core::Error;
using core::Fault;

// A client that has ended its side may only be slow to read, or may have left. Where its request
// still waits after this, it is taken to have left.
constexpr core::Duration half_closed_wait = std::chrono::seconds(1);

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
  http::drop_folding_twins(request.fields);
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

bool ForwardTask::waits() const { return state_ == State::queued || state_ == State::holding; }

// True: moved on, there may be more to do. False: this object may be told to go, do not touch it.
bool ForwardTask::step() {
  if (waits() && now() >= give_up_at_) return fail({Fault::client_gone, 0, "waiting in the queue"});
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
  const balancer::Retry retry = may_repeat(error);
  last_error_ = error;
  stream_.reset();
  lease_ = {};
  if (retry == balancer::Retry::never) return fail(error);
  state_ = State::queued;
  return true;
}

// What counts against an endpoint is in balancer/outlier.h.
void ForwardTask::note_failure(const Error& error) {
  const bool fresh = stream_ && !stream_->facts().reused && !stream_->facts().answer_began;
  if (!failed_to_connect(error) && !(fresh && closed(error.fault))) return;
  balancer::Endpoint& state = lease_.endpoint();
  const bool was_usable = state.usable(now());
  state.failed(now(), to_.pool->balancer().outlier_rule());
  if (!was_usable || state.usable(now())) return;
  to_.pool->recount(now());
  core::log(core::Level::warning, "pool " + to_.pool->written().name + ": endpoint " +
                                      state.name() + " is out for a while (" +
                                      core::describe(error) + ")");
}

balancer::Retry ForwardTask::may_repeat(const Error& error) {
  using balancer::Retry;
  if (core::fault_info(error.fault).side != core::Side::endpoint) return Retry::never;
  const Retry retry = balancer::may_retry(facts_of_attempt(error));
  if (retry == Retry::never || retry == Retry::freely) return retry;
  if (!to_.pool->balancer().retry_budget().take()) return Retry::never;
  fresh_only_ = may_return_ = true;
  ++resent();
  return retry;
}

unsigned& ForwardTask::resent() {
  return stream_ && stream_->facts().reused ? resent_after_reused_ : resent_after_fresh_;
}

balancer::Attempt ForwardTask::facts_of_attempt(const Error& error) {
  using balancer::Reached;
  balancer::Attempt attempt;
  if (stream_) {
    const client::Stream::Facts facts = stream_->facts();
    attempt.reached = facts.answer_began ? Reached::answer : Reached::connection;
    attempt.reused = facts.reused;
    attempt.body_intact = !facts.body_taken;
  }
  attempt.closed = closed(error.fault);
  const std::string_view method = exchange_.request().method;
  attempt.idempotent = http::idempotent(method);
  attempt.safe = method == "GET" || method == "HEAD";
  attempt.client_got = client_got_;
  attempt.resent = resent();
  return attempt;
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
  if (!waits() || give_up_at_ != core::Time::max()) return;
  give_up_at_ = now() + half_closed_wait;
  if (!timer_.is_set() || timer_.deadline() > give_up_at_) timer_.set(give_up_at_);
}

}  // namespace portico::route
