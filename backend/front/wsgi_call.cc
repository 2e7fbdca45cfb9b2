#include "backend/front/wsgi_call.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "backend/front/request_record.h"

namespace portico::backend {
namespace {

using core::Error;
using core::Fault;

// How long a request waits beyond timeouts.queue because workers start: a start that takes longer
// counts as time in the queue.
constexpr core::Duration longest_start = std::chrono::seconds(60);
// While they start, the end of the wait moves on, and is looked at this often.
constexpr core::Duration start_look = std::chrono::milliseconds(250);
// A client that has ended its side mostly has left, and then its request should not be begun any
// more; but one that waits for its answer, as nc does, gets it where a worker is soon free.
constexpr core::Duration half_closed_wait = std::chrono::seconds(1);

bool safe_to_repeat(std::string_view method) { return method == "GET" || method == "HEAD"; }

// The head as the model has it; one copy of the fields' bytes keeps them all.
http::ResponseHead response_head(const record::AnswerHead& answer) {
  http::ResponseHead head;
  head.status = answer.status;
  head.reason = std::string(answer.reason);
  if (answer.length_known) head.length = answer.content_length;
  core::Slice bytes = core::Slice::copy(answer.raw_fields);
  record::AnswerHead kept = answer;
  kept.raw_fields = bytes.view();
  record::AnswerFields fields(kept);
  std::string_view name;
  std::string_view value;
  while (fields.next(name, value)) head.fields.add(name, value);
  head.fields.keep(std::move(bytes));
  return head;
}

Fault fault_of(record::AbortReason reason) {
  switch (reason) {
    case record::AbortReason::bad_response:
    case record::AbortReason::short_body:
      return Fault::application_bad_answer;
    case record::AbortReason::engine_error:
    case record::AbortReason::input_error:
    case record::AbortReason::application_error:
    case record::AbortReason::cancelled:
      break;
  }
  return Fault::application_error;
}

}  // namespace

WsgiCall::WsgiCall(serve::Exchange& exchange, Application& application, const conf::Route& route,
                   std::string_view script_name)
    : Active(exchange.loop()),
      exchange_(exchange),
      application_(application),
      route_(route),
      script_name_(script_name),
      request_body_(application.spool()),
      timer_(*this) {}

WsgiCall::~WsgiCall() {
  if (flight_ != nullptr) flight_->abandon();
  if (body_ != nullptr) body_->disown();
}

void WsgiCall::begin() {
  const http::Framing& framing = exchange_.request().framing;
  if (framing.kind == http::Framing::Kind::none) return submit();
  request_body_.expect(framing.length);
  if (!is_streamed()) return collect();
  feed_ = std::make_unique<BodyFeed>(loop(), exchange_.request_body(), *this);
  submit();
}

// An empty body is complete when it begins.
bool WsgiCall::is_streamed() const {
  const http::Framing& framing = exchange_.request().framing;
  const bool empty = framing.kind == http::Framing::Kind::length && framing.length == 0;
  return route_.request == conf::Handover::stream && !empty;
}

void WsgiCall::advance() {
  if (state_ == State::collecting) return collect();
  if (timer_.due()) on_deadline();
}

void WsgiCall::collect() {
  const http::Flow flow = request_body_.collect(exchange_.request_body(), *this);
  if (flow == http::Flow::wait) return;
  if (flow == http::Flow::end) return submit();
  fail(request_body_.error());
}

void WsgiCall::submit() {
  state_ = State::flying;
  queued_at_ = loop().now();
  starting_before_ = application_.time_starting(queued_at_);
  if (application_.state() == Application::State::failed) return on_unavailable();
  flight_ = application_.lane(loop().index()).submit(*this);
  if (flight_ == nullptr) return fail(Fault::queue_full, "queueing for a worker");
  await_claim(queue_ends());
}

// Nobody tells of a claim, so this looks at least as often as the response time needs.
void WsgiCall::await_claim(core::Time deadline) {
  const core::Time now = loop().now();
  core::Time next = std::min(deadline, now + route_.timeouts.response);
  if (client_left_) next = std::min(next, now + half_closed_wait);
  if (application_.starts()) next = std::max(next, now + start_look);
  timer_.set(next);
}

// The time in the queue does not count while workers start: there is nobody to take the request.
core::Time WsgiCall::queue_ends() const {
  const core::Duration started = application_.time_starting(loop().now()) - starting_before_;
  return queued_at_ + route_.timeouts.queue + std::clamp(started, core::Duration(0), longest_start);
}

void WsgiCall::client_finished() {
  if (state_ != State::flying || std::exchange(client_left_, true)) return;
  await_claim(queue_ends());
}

bool WsgiCall::write_record(Flight& flight) {
  exchange_.trace().attempts += 1;
  const auto written = feed_ == nullptr ? write_whole(flight) : write_streamed(flight);
  if (written) return true;
  flight_ = nullptr;
  fail(written.error());
  return false;
}

core::Result<void> WsgiCall::write_whole(Flight& flight) {
  const auto write = [&] {
    return write_request(flight, exchange_, request_body_, script_name_, route_.timeouts.response);
  };
  const auto written = write();
  const bool crowded = !written && written.error().fault == Fault::head_too_large &&
                       request_body_.in_memory() && request_body_.size() != 0;
  if (!crowded) return written;
  if (auto moved = request_body_.leave_memory(); !moved) return moved;
  return write();
}

// What one worker has taken of a body no other will ever see. (Only a worker that lies in its cell
// can come here: a record that nobody has claimed is given nothing.)
core::Result<void> WsgiCall::write_streamed(Flight& flight) {
  if (!feed_->untouched()) return Error{Fault::worker_died, 0, "reading the request body"};
  auto end = feed_->open();
  if (!end) return end.error();
  flight.body() = std::move(*end);
  return write_streamed_request(flight, exchange_, script_name_);
}

core::Time WsgiCall::claimed_at() const {
  const core::Time claimed{std::chrono::nanoseconds(flight_->claim().claimed_ns)};
  return std::clamp(claimed, queued_at_, loop().now());
}

void WsgiCall::note_claim() {
  if (flight_ == nullptr) return;
  exchange_.trace().handed_over = claimed_at();
  exchange_.trace().upstream = "worker " + std::to_string(flight_->claim().worker);
}

void WsgiCall::on_interim(const record::AnswerHead& head) {
  last_frame_ = loop().now();
  exchange_.inform(response_head(head));
}

void WsgiCall::on_head(const record::AnswerHead& answer) {
  note_claim();
  state_ = State::answering;
  last_frame_ = exchange_.trace().first_byte = loop().now();
  auto body =
      std::make_unique<AnswerBody>(*this, application_.spool(), route_.limits.response_buffer);
  body_ = body.get();
  exchange_.respond(response_head(answer), std::move(body));
}

void WsgiCall::on_data(core::Slice bytes) {
  last_frame_ = loop().now();
  if (body_ != nullptr) body_->add(std::move(bytes));
}

void WsgiCall::on_file(core::FileRange range) {
  last_frame_ = loop().now();
  if (body_ != nullptr) body_->add(std::move(range));
}

void WsgiCall::on_end() {
  flight_ = nullptr;
  let_go();
  if (body_ != nullptr) body_->finish();
}

void WsgiCall::on_abort(record::AbortReason reason) {
  note_claim();
  flight_ = nullptr;
  fail(fault_of(reason), "answering");
}

bool WsgiCall::on_worker_lost(unsigned deaths) {
  const bool repeat = state_ == State::flying && deaths < 2 &&
                      safe_to_repeat(exchange_.request().method) &&
                      (feed_ == nullptr || feed_->untouched());
  if (repeat) return true;
  note_claim();
  flight_ = nullptr;
  fail(Fault::worker_died, state_ == State::answering ? "answering" : "working on the request");
  return false;
}

void WsgiCall::on_unavailable() {
  flight_ = nullptr;
  fail(Fault::site_unavailable, application_.cause());
}

void WsgiCall::fail(Fault fault, std::string_view doing) { fail({fault, 0, doing}); }

// Ends the call: the client gets an error page, or an abort once the head has gone.
void WsgiCall::fail(Error error) {
  const bool responded = state_ == State::answering;
  let_go();
  if (!responded) return exchange_.fail(error);
  if (body_ != nullptr) body_->fail(error);
}

void WsgiCall::let_go() {
  state_ = State::over;
  timer_.clear();
  if (flight_ != nullptr) std::exchange(flight_, nullptr)->abandon();
  if (feed_ != nullptr) loop().retire(std::move(feed_));
}

// Once the head has gone, what becomes of the answer is the application's affair: its read raises.
void WsgiCall::feed_failed(const Error& error) {
  if (state_ != State::flying) return;
  note_claim();
  fail(error);
}

void WsgiCall::body_drained() {
  last_frame_ = loop().now();
  if (flight_ != nullptr) flight_->resume();
}

void WsgiCall::body_dropped() {
  body_ = nullptr;
  if (flight_ != nullptr) flight_->resume();
}

void WsgiCall::on_deadline() {
  if (flight_ == nullptr) return;
  if (state_ == State::answering || flight_->claimed()) return response_deadline();
  queue_deadline();
}

// Only what no worker has begun is given up; a claim in this very moment lets it run.
void WsgiCall::queue_deadline() {
  const core::Time deadline = queue_ends();
  const bool late = loop().now() >= deadline;
  if (!late && !client_left_) return await_claim(deadline);
  const bool lay_there = flight_->state() == Flight::State::sent;
  if (!flight_->withdraw()) return response_deadline();
  flight_ = nullptr;
  if (late && lay_there) application_.report_unclaimed();
  fail(late ? Fault::queue_timeout : Fault::client_gone, "waiting for a worker");
}

void WsgiCall::response_deadline() {
  const core::Time deadline = last_sign() + route_.timeouts.response;
  const bool not_its_turn = full() || (feed_ != nullptr && feed_->awaits_client());
  if (not_its_turn) return timer_.set_after(route_.timeouts.response);
  if (loop().now() < deadline) return timer_.set(deadline);
  note_claim();
  flight_->report_hang();
  fail(Fault::response_timeout,
       state_ == State::answering ? "waiting for more of the answer" : "waiting for the answer");
}

// When the worker last showed that it is at work.
core::Time WsgiCall::last_sign() const {
  const core::Time sign = state_ == State::answering ? last_frame_ : claimed_at();
  return feed_ == nullptr ? sign : std::max(sign, feed_->last_moved());
}

}  // namespace portico::backend
