#include "proxy/client/response_body.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <variant>

#include "proxy/client/stream.h"

namespace portico::client {
namespace {

using Kind = http::Framing::Kind;
using core::Flow;

constexpr std::string_view doing = "reading the response body";

http::Pull data(core::Piece piece) { return {Flow::data, std::move(piece), nullptr, {}}; }

}  // namespace

void ResponseBody::begin(const http::Framing& framing) {
  kind_ = framing.kind;
  left_ = framing.length;
  chunks_.reset();
  if (kind_ == Kind::chunked) chunks_.emplace(http::Sender::endpoint, response_limits);
  const bool empty = kind_ == Kind::none || (kind_ == Kind::length && left_ == 0);
  state_ = empty ? State::complete : State::running;
}

http::Pull ResponseBody::pull(std::size_t room, net::Transport& transport, core::Slice& input) {
  for (;;) {
    if (state_ == State::complete) return finished();
    if (state_ == State::failed) return {Flow::fail, {}, nullptr, error_};
    if (!input.empty()) {
      http::Pull decoded = decode(room, input);
      if (decoded.flow != Flow::wait) return decoded;
      continue;
    }
    input = {};  // lets go of the block
    const std::uint64_t plain = plain_bytes_due();
    const bool splice = plain >= splice_from;
    const auto most = static_cast<std::size_t>(std::min<std::uint64_t>(room, plain));
    net::Arrival arrival = splice ? transport.read(most, net::Splice::allowed)
                                  : transport.read(std::max(room, core::block_bytes));
    switch (arrival.flow) {
      case Flow::wait:
        return {};
      case Flow::end:
        return peer_ended();
      case Flow::fail:
        return fail({core::Fault::response_cut, arrival.error.os, doing});
      case Flow::data:
        break;
    }
    if (!std::holds_alternative<core::Slice>(arrival.piece))
      return take_pipe(std::move(arrival.piece));
    input = std::get<core::Slice>(std::move(arrival.piece));
  }
}

std::uint64_t ResponseBody::plain_bytes_due() const {
  switch (kind_) {
    case Kind::length:
      return left_;
    case Kind::chunked:
      return chunks_->due();
    case Kind::until_close:
      return std::numeric_limits<std::uint64_t>::max();
    case Kind::none:
      break;
  }
  return 0;
}

// Flow::wait stands for "the input brought nothing, read on".
http::Pull ResponseBody::decode(std::size_t room, core::Slice& input) {
  if (kind_ == Kind::chunked) return decode_chunks(room, input);
  if (kind_ == Kind::until_close) return data(input.take_front(room));
  const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(room, left_));
  core::Slice part = input.take_front(size);
  left_ -= part.size();
  if (left_ == 0) state_ = State::complete;
  return data(std::move(part));
}

http::Pull ResponseBody::decode_chunks(std::size_t room, core::Slice& input) {
  using Step = http::ChunkedDecoder::Step;
  core::Slice part;
  switch (chunks_->next(input, room, part)) {
    case Step::more:
      return {};
    case Step::data:
      return data(std::move(part));
    case Step::end:
      state_ = State::complete;
      return finished();
    case Step::fail:
      break;
  }
  return fail(chunks_->error());
}

http::Pull ResponseBody::take_pipe(core::Piece piece) {
  const std::uint64_t size = core::length(piece);
  if (kind_ == Kind::chunked) chunks_->passed(size);
  if (kind_ == Kind::length) left_ -= size;
  if (kind_ == Kind::length && left_ == 0) state_ = State::complete;
  return data(std::move(piece));
}

http::Pull ResponseBody::peer_ended() {
  if (kind_ != Kind::until_close) return fail({core::Fault::response_cut, 0, doing});
  state_ = State::complete;
  return finished();
}

http::Pull ResponseBody::fail(const core::Error& error) {
  state_ = State::failed;
  error_ = error;
  return {Flow::fail, {}, nullptr, error_};
}

http::Pull ResponseBody::finished() { return {Flow::end, {}, nullptr, {}}; }

}  // namespace portico::client
