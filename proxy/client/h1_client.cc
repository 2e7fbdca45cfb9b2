#include "proxy/client/h1_client.h"

#include <utility>
#include <variant>

#include "proxy/client/connections.h"
#include "proxy/client/destination.h"
#include "proxy/client/keep_alive.h"
#include "proxy/client/prefixed_transport.h"
#include "proxy/http/h1_write.h"
#include "proxy/http/hop.h"
#include "proxy/http/websocket.h"

namespace portico::client {
namespace {

using core::Fault;
using core::Flow;
using Event = Stream::Event;

// Interim responses to one request. Early hints come once or twice, 102 every few seconds; more
// than this is a flood.
constexpr unsigned most_interim_heads = 100;

constexpr std::string_view doing = "reading the response head";

}  // namespace

H1Client::H1Client(Connections& home, std::shared_ptr<Destination> destination,
                   std::unique_ptr<net::Transport> transport)
    : core::Active(home.loop()),
      home_(home),
      destination_(std::move(destination)),
      transport_(std::move(transport)),
      timer_(*this),
      head_reader_(response_limits) {
  transport_->attach(this);
}

void H1Client::start(const Request& request, core::Active& owner) {
  state_ = State::awaiting_head;
  asker_ = &owner;
  method_.assign(request.method);
  upgrade_ = request.upgrade;
  takes_trailers_ = request.takes_trailers;
  silence_ = request.silence;
  keep_ = request.keep;
  trailers_.reset();
  timer_.clear();
  interim_heads_ = 0;
  answer_began_ = false;
  ++requests_;
  send_head(request);
}

void H1Client::send_head(const Request& request) {
  core::Buffer& scratch = core::Buffer::shared();
  const auto connection =
      request.upgrade != nullptr ? http::Connection::upgrade : http::Connection::keep;
  const auto written = http::write_request_head(scratch, request.method, request.target,
                                                *request.fields, request.framing, connection);
  if (!written) {
    fail(written.error());
    return;
  }
  sender_.begin(scratch.take(), request.framing, request.body);
  send_on();
}

void H1Client::send_on() { sender_.advance(*transport_, *this); }

void H1Client::advance() {
  if (state_ == State::idle) {
    if (!quiet()) return home_.lost(*this);
    if (timer_.due()) home_.expired(*this);
    return;
  }
  if (state_ == State::answering) {
    send_on();
    if (timer_.is_set() && !timer_.due()) time_silence(true);
    reader_.fire();
  } else {
    owner_.fire();
  }
}

Event H1Client::next() {
  if (state_ == State::failed) return Event::fail;
  owner_.aim(*asker_);
  send_on();
  if (sender_.source_failed()) return fail(sender_.error());
  const Event event = read_head();
  if (event == Event::wait && timer_.due()) return fail({Fault::response_timeout, 0, doing});
  time_silence(event == Event::wait);
  return event;
}

Event H1Client::read_head() {
  for (;;) {
    if (input_.empty() && !read_input()) return state_ == State::failed ? Event::fail : Event::wait;
    switch (head_reader_.feed(input_, method_, received_)) {
      case http::Progress::more:
        break;
      case http::Progress::fail:
        return fail(head_reader_.error());
      case http::Progress::head:
        if (const Event event = sort_head(); event != Event::wait) return event;
    }
  }
}

// False: nothing there, or failed. A head that was begun and not finished is a cut response, which
// nobody may ask for again.
bool H1Client::read_input() {
  net::Arrival arrival = transport_->read(core::block_bytes);
  switch (arrival.flow) {
    case Flow::wait:
      return false;
    case Flow::data:
      break;
    case Flow::end:
      fail({answer_began_ ? Fault::response_cut : Fault::endpoint_closed, 0, doing});
      return false;
    case Flow::fail:
      fail({answer_began_ ? Fault::response_cut : arrival.error.fault, arrival.error.os, doing});
      return false;
  }
  input_ = std::get<core::Slice>(std::move(arrival.piece));
  answer_began_ = true;
  return true;
}

// Event::wait: nothing that concerns the owner, read on.
Event H1Client::sort_head() {
  const int status = received_.head.status;
  if (status < 200) return sort_interim(status);
  note_keep_alive();
  body_.begin(received_.framing);
  state_ = State::answering;
  return Event::head;
}

Event H1Client::sort_interim(int status) {
  if (++interim_heads_ > most_interim_heads)
    return fail({Fault::bad_response, 0, "reading one more interim response"});
  timer_.clear();  // a sign of life
  if (status == 101) return accept_upgrade();
  // Expect is never passed on, so that nobody waits for a 100.
  return status == 100 ? Event::wait : Event::informed;
}

Event H1Client::accept_upgrade() {
  if (upgrade_ == nullptr || !http::websocket_accepted(*upgrade_, received_.head))
    return fail({Fault::bad_response, 0, "checking the change of protocol"});
  state_ = State::upgraded;
  return Event::upgraded;
}

void H1Client::note_keep_alive() {
  if (!received_.keep_alive) return;
  if (const auto limit = told_idle_limit(received_.head.fields))
    destination_->told_idle_limit(*limit, loop().now());
}

Event H1Client::fail(const core::Error& error) {
  state_ = State::failed;
  error_ = error;
  sender_.stop();
  timer_.clear();
  return Event::fail;
}

std::unique_ptr<net::Transport> H1Client::take_transport() {
  transport_->attach(nullptr);
  if (input_.empty()) return std::move(transport_);
  return std::make_unique<PrefixedTransport>(std::move(input_), std::move(transport_));
}

http::Pull H1Client::pull(std::size_t room, core::Active& reader) {
  if (state_ == State::failed) return {Flow::fail, {}, nullptr, error_};
  http::Pull pull = body_.pull(room, *transport_, input_);
  if (pull.flow == Flow::fail) return pull_failed(pull.error);
  if (pull.flow == Flow::wait && timer_.due())
    return pull_failed({Fault::response_timeout, 0, "reading the response body"});
  if (pull.flow == Flow::wait) reader_.aim(reader);
  if (pull.flow == Flow::end) filter_trailers(pull);
  time_silence(pull.flow == Flow::wait);
  return pull;
}

http::Pull H1Client::pull_failed(const core::Error& error) {
  fail(error);
  return {Flow::fail, {}, nullptr, error_};
}

bool H1Client::has_trailers() const {
  return takes_trailers_ && body_.trailers() != nullptr && !body_.trailers()->empty();
}

void H1Client::filter_trailers(http::Pull& pull) {
  if (!has_trailers()) return;
  if (!trailers_) {
    trailers_ = std::make_unique<http::Headers>(*body_.trailers());
    http::drop_forbidden_trailers(*trailers_);
  }
  pull.trailers = trailers_.get();
}

// The endpoint's silence counts only while it is the endpoint that is waited for.
void H1Client::time_silence(bool waits_for_answer) {
  if (!waits_for_answer || sender_.waits_for_source()) return timer_.clear();
  const std::uint64_t sent = transport_->sent();
  if (sent == sent_ && timer_.is_set()) return;
  sent_ = sent;
  timer_.set_after(silence_);
}

Stream::Facts H1Client::facts() const {
  return {requests_ > 1, answer_began_, sender_.took_body(), sender_.complete()};
}

bool H1Client::reusable() const {
  return complete() && received_.keep_alive && sender_.complete() && input_.empty() &&
         !transport_->broken();
}

void H1Client::rest() {
  state_ = State::idle;
  received_ = {};
  input_ = {};
  upgrade_ = nullptr;
  idle_since_ = loop().now();
  timer_.set_after(destination_->idle_limit(keep_, idle_since_));
}

bool H1Client::quiet() { return transport_->read(1).flow == Flow::wait; }

}  // namespace portico::client
