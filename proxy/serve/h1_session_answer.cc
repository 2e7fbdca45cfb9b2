// The running state of an H1Session: it listens to the client while a task is at work, and sends
// the answer.
#include <algorithm>
#include <utility>

#include "proxy/core/text.h"
#include "proxy/serve/h1_session.h"
#include "proxy/serve/server.h"

namespace portico::serve {

using core::Error;
using core::Fault;
using core::Flow;

namespace {

// The step for clients that read slowly: thousands of them shall not hold 64 KiB each.
constexpr std::size_t small_step = 16 * 1024;

}  // namespace

H1Session::Step H1Session::run() {
  if (const auto failure = exchange_->take_failure(); failure && !exchange_->answer_error(*failure))
    return cut(*failure);
  listen_to_client();
  if (input_.failed()) return lose(input_.error());
  exchange_->body().expire();
  if (client_too_slow()) return cut({Fault::send_timeout, 0, "sending the answer"});
  return give_answer();
}

// Bytes are read for whoever waits for the body; behind the body, to learn that the client has
// ended its side or left.
void H1Session::listen_to_client() {
  H1Body& body = exchange_->body();
  const bool reader_waits = body.reader_waits();
  if (!reader_waits && !body.complete()) return;
  const Flow flow = reader_waits ? input_.fill(H1Body::read_bytes) : input_.fill();
  if (reader_waits && flow != Flow::wait) body.wake_reader();
  if (flow == Flow::end) exchange_->client_finished();
}

bool H1Session::client_too_slow() {
  const core::Time now = loop().now();
  const ExchangeLimits& limits = exchange_->limits();
  if (!sending_.waiting() || now < sending_.deadline(limits.send_wait)) return false;
  return sending_.too_slow(now, transport_->acknowledged(), limits.send_wait, limits.client_rate);
}

// As far as it is here, an answer goes from one state to the next at once.
H1Session::Step H1Session::give_answer() {
  H1Answer& answer = exchange_->answer();
  switch (answer.state()) {
    case H1Answer::State::awaited:
      return flush_interim();
    case H1Answer::State::framing:
      if (answer.decide(exchange_->request(), *this) == Flow::fail) break;
      if (exchange_->has_failure()) return Step::moved;
      [[fallthrough]];
    case H1Answer::State::ready:
      if (send_head() == Flow::fail) break;
      if (answer.complete()) return push_out(Flow::end);
      [[fallthrough]];
    case H1Answer::State::sending:
      return send_body();
    case H1Answer::State::complete:
      return push_out(Flow::end);
    case H1Answer::State::cut:
      break;
  }
  return answer_failed();
}

// A 100 Continue or another 1xx.
H1Session::Step H1Session::flush_interim() {
  if (transport_->unsent() > 0 && transport_->flush() == Flow::fail)
    return lose({Fault::client_gone, transport_->send_error().os, "sending to the client"});
  return Step::stuck;
}

Flow H1Session::send_head() {
  H1Answer& answer = exchange_->answer();
  Trace& trace = exchange_->trace();
  exchange_->body().stop_asking();
  keep_alive_ = keeps_connection();
  dress(answer.head());
  const http::Version version = exchange_->request().version;
  const Flow flow = answer.send_head(*transport_, connection_field(), version);
  if (flow == Flow::fail) return flow;
  trace.status = answer.head().status;
  trace.first_byte = loop().now();
  return flow;
}

http::Connection H1Session::connection_field() const {
  if (exchange_->becomes_tunnel()) return http::Connection::upgrade;
  return keep_alive_ ? http::Connection::keep : http::Connection::close;
}

// Not where the request's end is unknown or far: a client that waits for a 100 Continue may send
// its body or not.
bool H1Session::keeps_connection() {
  if (leaving_ || server_.draining() || !exchange_->request().keep_alive) return false;
  if (exchange_->answer().framing().kind == http::Framing::Kind::until_close) return false;
  if (input_.ended() && input_.empty()) return false;
  const H1Body& body = exchange_->body();
  return !body.failed() && !body.unasked() && body.left().value_or(0) <= drain_bytes;
}

// Handlers may write names in any case.
void H1Session::dress(http::ResponseHead& head) {
  const std::string_view id = exchange_->trace().request_id.view();
  bool dated = false;
  head.fields.remove_if([&](const http::Field& field) {
    dated |= core::equal_ignoring_case(field.name, "date");
    return !id.empty() && core::equal_ignoring_case(field.name, "x-request-id");
  });
  if (!dated) head.fields.add_fit("Date", server_.date());
  if (!id.empty()) head.fields.add_fit("X-Request-ID", id);
}

H1Session::Step H1Session::send_body() {
  H1Answer& answer = exchange_->answer();
  const bool small = fills_in_small_steps();
  const std::size_t room = small ? small_step : H1Answer::pull_bytes;
  const std::uint64_t enough = small ? small_step : net::Transport::low_water;
  Flow pulled = Flow::data;
  while (pulled == Flow::data && transport_->unsent() < enough)
    pulled = answer.send_more(*transport_, room, *this);
  if (pulled == Flow::fail) return answer_failed();
  if (pulled == Flow::wait && head_waits_for_body()) return Step::stuck;
  return push_out(pulled);
}

// Many endpoints send head and body in two writes. A head that came alone waits a moment for a body
// of known length to begin: together they are a segment and an acknowledgement less (of nginx's
// 1 KB answers a third came apart, at 64 connections). A body of unknown length may be a stream.
bool H1Session::head_waits_for_body() {
  core::Moment& wait = exchange_->head_wait();
  const H1Answer& answer = exchange_->answer();
  const bool alone = answer.body_bytes() == 0 && transport_->unsent() > 0;
  if (answer.framing().kind != http::Framing::Kind::length || !alone) return false;
  if (sending_.waiting() || wait.due()) return false;
  if (!wait.is_set()) wait.set();
  return true;
}

// This client has let the kernel's buffer fill, or too many others have.
bool H1Session::fills_in_small_steps() const { return sending_.waiting() || server_.holds_much(); }

void H1Session::hold(std::uint64_t bytes) {
  if (bytes != held_) server_.hold(bytes, std::exchange(held_, bytes));
}

H1Session::Step H1Session::push_out(Flow pulled) {
  if (pulled == Flow::end && !keep_alive_ && !exchange_->becomes_tunnel())
    transport_->close_follows();
  exchange_->head_wait().clear();
  const Flow flow = transport_->flush();
  const core::Time now = loop().now();
  if (flow == Flow::fail)
    return lose({Fault::client_gone, transport_->send_error().os, "sending to the client"});
  if (flow == Flow::wait) {
    hold(transport_->unsent());
    sending_.wait(now, sending_.begun() ? 0 : transport_->acknowledged());
    return Step::stuck;
  }
  hold(0);
  sending_.go_on(now);
  if (pulled == Flow::end) return answer_gone();
  return pulled == Flow::data ? Step::moved : Step::stuck;
}

// Before the head is out it can be an error page; afterwards the client must see that it is cut.
H1Session::Step H1Session::answer_failed() {
  const Error error = exchange_->answer().error();
  return exchange_->answer_error(error) ? Step::moved : cut(error);
}

H1Session::Step H1Session::answer_gone() {
  if (exchange_->becomes_tunnel()) return open_tunnel();
  end_exchange();
  sending_ = {};
  if (!keep_alive_ || exchange_->body().failed()) return close();
  if (exchange_->body().complete()) return next_request();
  enter(State::draining_body);
  return Step::moved;
}

}  // namespace portico::serve
