#include "proxy/serve/h1_session.h"

#include <algorithm>
#include <utility>

#include "proxy/net/linger.h"
#include "proxy/serve/server.h"

namespace portico::serve {

using core::Error;
using core::Fault;
using core::Flow;

namespace {

// Steps of one connection in one turn: some ten pipelined requests, then others have their turn.
constexpr int steps_a_turn = 64;

}  // namespace

std::string_view name(H1Session::State state) {
  switch (state) {
    case H1Session::State::idle:
      return "idle";
    case H1Session::State::reading_head:
      return "reading_head";
    case H1Session::State::running:
      return "running";
    case H1Session::State::draining_body:
      return "draining_body";
    case H1Session::State::tunnel:
      return "tunnel";
    case H1Session::State::closed:
      return "closed";
  }
  return "unknown";
}

// The first byte of a new connection has as long as a whole head.
H1Session::H1Session(Server& server, std::unique_ptr<net::Transport> transport,
                     Connection connection, ConnectionCounts::Counting counting)
    : Session(server.loop(), counting),
      server_(server),
      transport_(std::move(transport)),
      connection_(std::move(connection)),
      input_(*transport_),
      reader_(server.root()->head),
      since_(server.loop().now()),
      idle_wait_(server.root()->limits.header_wait),
      header_wait_(server.root()->limits.header_wait),
      timer_(*this) {
  transport_->attach(this);
}

H1Session::~H1Session() {
  if (state_ == State::closed) return;
  lose({Fault::shutting_down, 0, "serving the request"});
}

void H1Session::drain() {
  leaving_ = true;
  wake();
}

void H1Session::abort() {
  aborted_ = true;
  wake();
}

void H1Session::advance() {
  int count = 0;
  while (state_ != State::closed && step() == Step::moved)
    if (++count == steps_a_turn) {
      wake();
      break;
    }
  if (state_ == State::closed) return server_.ended(*this);
  settle();
}

H1Session::Step H1Session::step() {
  if (aborted_) return cut({Fault::shutting_down, 0, "serving the request"});
  if (transport_->broken()) return lose({Fault::client_gone, 0, "talking to the client"});
  switch (state_) {
    case State::idle:
      return await_request();
    case State::reading_head:
      return read_head();
    case State::running:
      return run();
    case State::draining_body:
      return drain_body();
    case State::tunnel:
      return pass_bytes();
    case State::closed:
      break;
  }
  return Step::stuck;
}

// A request that has arrived is answered even when the session is to leave.
H1Session::Step H1Session::await_request() {
  const Flow flow = input_.fill();
  if (flow == Flow::data) return begin_exchange();
  if (flow != Flow::wait || leaving_ || due()) return finish();
  return Step::stuck;
}

H1Session::Step H1Session::begin_exchange() {
  server_.now_busy(*this);
  server_.exchange_began();
  reader_.limit(server_.root()->head);
  exchange_ = std::make_unique<H1Exchange>(*this, *transport_, input_, server_.root());
  enter(State::reading_head);
  return Step::moved;
}

H1Session::Step H1Session::read_head() {
  const Flow flow = input_.fill();
  if (flow == Flow::end || flow == Flow::fail)
    return lose({Fault::client_gone, input_.error().os, "reading the request head"});
  if (flow == Flow::data) {
    switch (reader_.feed(input_.bytes(), exchange_->mutable_request())) {
      case http::Progress::head:
        return head_arrived();
      case http::Progress::fail:
        return refuse_head(reader_.error());
      case http::Progress::more:
        if (!reader_.started()) return head_was_nothing();
    }
  }
  if (due()) return refuse_head({Fault::header_timeout, 0, "reading the request head"});
  return flow == Flow::data ? Step::moved : Step::stuck;
}

// A CRLF behind the request before: some clients send it (RFC 9112 §2.2).
H1Session::Step H1Session::head_was_nothing() {
  exchange_->forget();
  end_exchange();
  return next_request();
}

H1Session::Step H1Session::head_arrived() {
  enter(State::running);
  exchange_->head_complete();
  exchange_->start();
  return Step::moved;
}

// Where the next request would begin is not known: this is the last one.
H1Session::Step H1Session::refuse_head(const Error& error) {
  leaving_ = true;
  lost_count_ = true;
  enter(State::running);
  exchange_->fail(error);
  return Step::moved;
}

H1Session::Step H1Session::drain_body() {
  H1Body& body = exchange_->body();
  const std::uint64_t drained = body.taken() - exchange_->trace().request_bytes;
  if (drained > drain_bytes || due()) return close();
  switch (body.pull(core::block_bytes, *this).flow) {
    case Flow::data:
      return Step::moved;
    case Flow::wait:
      return Step::stuck;
    case Flow::end:
      return next_request();
    case Flow::fail:
      return close();
  }
  return close();
}

H1Session::Step H1Session::open_tunnel() {
  core::Slice early = std::exchange(input_.bytes(), {});
  tunnel_ =
      std::make_unique<Tunnel>(*this, *transport_, exchange_->take_tunnel(), std::move(early));
  enter(State::tunnel);
  return Step::moved;
}

H1Session::Step H1Session::pass_bytes() {
  const Tunnel::State passed = tunnel_->move();
  const std::uint64_t moved = tunnel_->to_client() + tunnel_->to_peer();
  if (std::exchange(tunnel_moved_, moved) != moved) since_ = loop().now();
  if (passed == Tunnel::State::closed || passed == Tunnel::State::broken || due()) return finish();
  return passed == Tunnel::State::busy ? Step::moved : Step::stuck;
}

H1Session::Step H1Session::next_request() {
  exchange_.reset();
  enter(State::idle);
  return Step::moved;
}

// With bytes unread, or more of them on their way, closing at once would be a reset that destroys
// the answer before the client has read it (RFC 9112 §9.6).
H1Session::Step H1Session::close() {
  const bool more_may_come = lost_count_ || !input_.empty() || !exchange_->body().complete() ||
                             exchange_->request().keep_alive;
  end_exchange();
  exchange_.reset();
  if (more_may_come && !input_.ended()) net::Linger::start(loop(), std::move(transport_));
  return finish();
}

H1Session::Step H1Session::cut(const Error& error) {
  if (state_ != State::idle) transport_->reset_on_close();
  return lose(error);
}

H1Session::Step H1Session::lose(const Error& error) {
  if (exchange_ != nullptr) exchange_->blame(error);
  return finish();
}

H1Session::Step H1Session::finish() {
  hold(0);
  end_exchange();
  exchange_.reset();
  state_ = State::closed;
  return Step::moved;
}

// Afterwards the exchange only serves to drain the rest of its body.
void H1Session::end_exchange() {
  if (exchange_ == nullptr || exchange_over_) return;
  exchange_over_ = true;
  Trace& trace = exchange_->trace();
  if (tunnel_ != nullptr) {
    trace.request_bytes = tunnel_->to_peer();
    trace.response_bytes = tunnel_->to_client();
  } else {
    const std::uint64_t queued = exchange_->answer().body_bytes();
    trace.request_bytes = exchange_->body().taken();
    trace.response_bytes = queued - std::min(queued, transport_->unsent());
  }
  idle_wait_ = exchange_->limits().idle_wait;
  header_wait_ = exchange_->limits().header_wait;
  exchange_->end();
  server_.exchange_ended();
}

void H1Session::enter(State state) {
  state_ = state;
  since_ = loop().now();
  if (state == State::reading_head) exchange_over_ = false;
}

bool H1Session::due() const {
  const auto when = deadline();
  return when && loop().now() >= *when;
}

std::optional<core::Time> H1Session::deadline() const {
  switch (state_) {
    case State::idle:
      return since_ + idle_wait_;
    case State::reading_head:
      return since_ + header_wait_;
    case State::running:
      return running_deadline();
    case State::draining_body:
      return since_ + exchange_->limits().body_wait;
    case State::tunnel:
      return since_ + exchange_->limits().tunnel_wait;
    case State::closed:
      break;
  }
  return std::nullopt;
}

std::optional<core::Time> H1Session::running_deadline() const {
  std::optional<core::Time> when = exchange_->body().deadline();
  if (!sending_.waiting()) return when;
  const core::Time sent_by = sending_.deadline(exchange_->limits().send_wait);
  return when ? std::min(*when, sent_by) : sent_by;
}

// The one place that sets the timer and the place among the idle (house rule 6).
void H1Session::settle() {
  input_.trim();
  if (state_ != State::running || !exchange_->body().complete()) transport_->expect_more();
  if (state_ == State::idle) server_.now_idle(*this);
  const auto when = deadline();
  if (when) {
    timer_.set(*when);
  } else {
    timer_.clear();
  }
}

}  // namespace portico::serve
