#include "proxy/serve/h1_body.h"

#include <algorithm>
#include <utility>

#include "proxy/http/h1_write.h"
#include "proxy/http/hop.h"

namespace portico::serve {

using core::Fault;
using core::Flow;
using http::Framing;
using http::Pull;

void H1Body::begin(const http::RequestHead& head, const http::ReadLimits& trailer_limits) {
  framing_ = head.framing;
  complete_ = framing_.kind == Framing::Kind::none ||
              (framing_.kind == Framing::Kind::length && framing_.length == 0);
  unasked_ = head.wants_continue && !complete_;
  if (framing_.kind == Framing::Kind::chunked)
    decoder_.emplace(http::Sender::client, trailer_limits);
}

std::optional<std::uint64_t> H1Body::left() const {
  if (complete_) return 0;
  if (framing_.kind == Framing::Kind::length) return framing_.length - taken_;
  return std::nullopt;
}

Pull H1Body::pull(std::size_t room, core::Active& reader) {
  if (failed()) return fail(error_);
  if (complete_) return end();
  if (left().value_or(0) + taken_ > limits_.body_bytes)
    return fail({Fault::body_too_large, 0, "reading the request body"});
  ask();
  Pull pulled = next(room);
  if (pulled.flow != Flow::wait) {
    pace_.go_on(session_.loop().now());
    return pulled;
  }
  reader_.aim(reader);
  if (!pace_.waiting()) session_.wake();  // which then sets its timer
  pace_.wait(session_.loop().now(), taken_);
  return pulled;
}

// A client that has sent a part of its body already does not wait for us (RFC 9110 §10.1.1).
void H1Body::ask() {
  if (!unasked_ || !may_ask_) return;
  unasked_ = false;
  if (input_.fill() == Flow::data) return;
  transport_.send(core::Slice::literal(http::continue_head));
  session_.wake();
}

Pull H1Body::next(std::size_t room) {
  return decoder_ ? next_of_chunks(room) : next_of_length(room);
}

Pull H1Body::next_of_length(std::size_t room) {
  const Flow flow = input_.fill(read_bytes);
  if (flow != Flow::data) return none_arrived(flow);
  const auto most = std::min<std::uint64_t>(room, framing_.length - taken_);
  Pull pulled = hand_out(input_.bytes().take_front(static_cast<std::size_t>(most)));
  complete_ = taken_ == framing_.length;
  return pulled;
}

Pull H1Body::next_of_chunks(std::size_t room) {
  using Step = http::ChunkedDecoder::Step;
  for (;;) {
    const Flow flow = input_.fill(read_bytes);
    if (flow != Flow::data) return none_arrived(flow);
    core::Slice data;
    switch (decoder_->next(input_.bytes(), room, data)) {
      case Step::more:
        break;
      case Step::data:
        if (taken_ + data.size() > limits_.body_bytes)
          return fail({Fault::body_too_large, 0, "reading the request body"});
        return hand_out(std::move(data));
      case Step::end:
        complete_ = true;
        return end();
      case Step::fail:
        return fail(decoder_->error());
    }
  }
}

Pull H1Body::hand_out(core::Slice bytes) {
  taken_ += bytes.size();
  return {Flow::data, std::move(bytes), nullptr, {}};
}

Pull H1Body::end() {
  if (decoder_ && !trailers_ && !decoder_->trailers().empty()) {
    trailers_ = std::make_unique<http::Headers>(decoder_->trailers());
    http::drop_forbidden_trailers(*trailers_);
  }
  return {Flow::end, {}, trailers_.get(), {}};
}

Pull H1Body::fail(core::Error error) {
  error_ = error;
  return {Flow::fail, {}, nullptr, error_};
}

Pull H1Body::none_arrived(Flow flow) {
  if (flow == Flow::wait) return {};
  if (flow == Flow::fail) return fail(input_.error());
  return fail({Fault::client_gone, 0, "reading the request body"});
}

// From here on it is not the client whom anybody waits for.
void H1Body::wake_reader() {
  pace_.go_on(session_.loop().now());
  reader_.fire();
}

std::optional<core::Time> H1Body::deadline() const {
  if (!reader_waits() || !pace_.waiting()) return std::nullopt;
  return pace_.deadline(limits_.body_wait);
}

void H1Body::expire() {
  const core::Time now = session_.loop().now();
  const auto when = deadline();
  if (!when || now < *when) return;
  if (!pace_.too_slow(now, taken_, limits_.body_wait, limits_.client_rate)) return;
  fail({Fault::body_timeout, 0, "reading the request body"});
  wake_reader();
}

}  // namespace portico::serve
