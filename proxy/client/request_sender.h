// RequestSender: sends one request: its head, then the body as it is pulled from its source.
//
// Part of an H1Client; one thread. A write error does not end the exchange: the endpoint may have
// answered and closed before the body's end, and that answer is still to be read (RFC 9112 §9.5).
#pragma once

#include <cstdint>

#include "proxy/core/bytes.h"
#include "proxy/core/loop.h"
#include "proxy/core/result.h"
#include "proxy/http/body.h"
#include "proxy/http/head.h"
#include "proxy/net/transport.h"

namespace portico::client {

class RequestSender {
 public:
  /// head  the generated head; body  null where framing says none
  void begin(core::Slice head, const http::Framing& framing, http::BodySource* body);

  /// Goes as far as possible without waiting. `reader` is woken by the body's source.
  void advance(net::Transport& transport, core::Active& reader);
  void stop() {  ///< the rest, if any, is not wanted any more
    if (state_ != State::complete) state_ = State::stopped;
  }

  bool complete() const { return state_ == State::complete; }
  bool took_body() const { return took_body_; }
  /// The source has nothing: the client is waited for, not the endpoint.
  bool waits_for_source() const { return state_ == State::body && source_waits_; }
  bool source_failed() const { return state_ == State::source_failed; }
  const core::Error& error() const { return error_; }  ///< of the source

 private:
  enum class State : std::uint8_t {
    body,           // from begin(): pieces are pulled
    flushing,       // the source has ended, or there is none: the rest waits to be sent
    complete,       // all is with the kernel
    stopped,        // the connection takes no more, or nobody wants it to
    source_failed,  // the client's body came to nothing
  };
  void fill(net::Transport& transport, core::Active& reader);
  void send_piece(net::Transport& transport, core::Piece piece);
  void send_end(net::Transport& transport, const http::Headers* trailers);

  State state_ = State::stopped;
  bool chunked_ = false;
  bool took_body_ = false;
  bool source_waits_ = false;
  core::Slice head_;
  http::BodySource* body_ = nullptr;
  core::Error error_;
};

}  // namespace portico::client
