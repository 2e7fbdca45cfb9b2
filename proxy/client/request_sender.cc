#include "proxy/client/request_sender.h"

#include <utility>

#include "proxy/http/chunked.h"

namespace portico::client {
namespace {

// What is asked of a source at a time: as much as one splice moves.
constexpr std::size_t piece_bytes = 256 * 1024;

// Rounds of pulling and sending before others get their turn: with a fast client and a fast
// endpoint there is always more.
constexpr int rounds_a_turn = 8;

}  // namespace

void RequestSender::begin(core::Slice head, const http::Framing& framing, http::BodySource* body) {
  head_ = std::move(head);
  body_ = body;
  chunked_ = framing.kind == http::Framing::Kind::chunked;
  state_ = body == nullptr ? State::flushing : State::body;
  took_body_ = source_waits_ = false;
  error_ = {};
}

void RequestSender::advance(net::Transport& transport, core::Active& reader) {
  if (state_ != State::body && state_ != State::flushing) return;
  if (!head_.empty()) transport.send(std::exchange(head_, {}));
  for (int round = 0; round < rounds_a_turn; ++round) {
    if (state_ == State::body) fill(transport, reader);
    if (state_ == State::source_failed) return;
    const core::Flow sent = transport.flush();
    if (sent == core::Flow::fail) return stop();
    if (sent == core::Flow::wait || source_waits_) return;
    if (state_ == State::flushing) {
      state_ = State::complete;
      return;
    }
  }
  reader.wake();
}

void RequestSender::fill(net::Transport& transport, core::Active& reader) {
  source_waits_ = false;
  while (state_ == State::body && transport.unsent() < net::Transport::low_water) {
    http::Pull pull = body_->pull(piece_bytes, reader);
    switch (pull.flow) {
      case core::Flow::data:
        send_piece(transport, std::move(pull.piece));
        break;
      case core::Flow::wait:
        source_waits_ = true;
        return;
      case core::Flow::end:
        send_end(transport, pull.trailers);
        break;
      case core::Flow::fail:
        state_ = State::source_failed;
        error_ = pull.error;
        break;
    }
  }
}

void RequestSender::send_piece(net::Transport& transport, core::Piece piece) {
  const std::uint64_t size = core::length(piece);
  if (size == 0) return;  // a chunk of no bytes would be the last
  took_body_ = true;
  if (!chunked_) return transport.send(std::move(piece));
  core::Buffer& syntax = core::Buffer::shared();
  http::append_chunk_head(syntax, size);
  transport.send(syntax.take());
  transport.send(std::move(piece));
  transport.send(core::Slice::literal(http::chunk_end));
}

void RequestSender::send_end(net::Transport& transport, const http::Headers* trailers) {
  state_ = State::flushing;
  if (!chunked_) return;
  core::Buffer& syntax = core::Buffer::shared();
  http::append_last_chunk(syntax, trailers);
  transport.send(syntax.take());
}

}  // namespace portico::client
