// H1Answer: the answer of one HTTP/1 exchange on its way out: framing, head, body, last chunk.
//
// A member of its exchange; one thread. It pulls from the answer's body only what the transport has
// room for. A small body of unknown length that is there at once gets a Content-Length; else it is
// chunked (HTTP/1.1) or ends with the connection (HTTP/1.0). RFC 9112 §6, §7.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "proxy/core/bytes.h"
#include "proxy/core/loop.h"
#include "proxy/http/body.h"
#include "proxy/http/h1_write.h"
#include "proxy/http/head.h"
#include "proxy/net/transport.h"

namespace portico::serve {

class H1Answer {
 public:
  /// One pull's room: as much as one splice through a pipe moves.
  static constexpr std::size_t pull_bytes = 256 * 1024;

  /// awaited: no answer yet. framing: the head is here, its body is looked at. ready: the framing
  /// is known. sending: the head is queued. complete: everything is queued. cut: it cannot be
  /// completed, see error().
  enum class State : std::uint8_t { awaited, framing, ready, sending, complete, cut };

  State state() const { return state_; }
  bool awaited() const { return state_ == State::awaited; }
  bool head_out() const { return head_out_; }
  bool complete() const { return state_ == State::complete; }
  const core::Error& error() const { return error_; }
  http::ResponseHead& head() { return head_; }
  const http::Framing& framing() const { return framing_; }
  std::uint64_t body_bytes() const { return body_bytes_; }  ///< queued so far, without framing

  /// Takes the answer; in place of an earlier one as long as no head is out.
  void set(http::ResponseHead head, std::unique_ptr<http::BodySource> body);

  /// State::framing: looks at the body until the framing is known. wait never comes of it; fail:
  /// the body failed before anything went out.
  core::Flow decide(const http::RequestHead& request, core::Active& reader);
  /// State::ready: queues the head and what was looked at. fail: the head cannot be written.
  core::Flow send_head(net::Transport& out, http::Connection connection, http::Version version);
  /// State::sending: queues one more piece, of at most `room` bytes. data: there may be more at
  /// once; wait: `reader` is woken; end: complete; fail: cut.
  core::Flow send_more(net::Transport& out, std::size_t room, core::Active& reader);

  /// The client takes trailers: they are sent when the framing is chunked.
  void allow_trailers() { trailers_allowed_ = true; }
  void drop_body() { body_.reset(); }

 private:
  core::Flow gather(core::Active& reader);
  void frame_unknown(http::Version version);
  void queue(net::Transport& out, core::Piece&& piece);
  void queue_chunk(net::Transport& out, core::Piece&& piece);
  core::Flow end(net::Transport& out, const http::Headers* trailers);
  core::Flow cut(core::Error error);
  bool fits(const core::Piece& piece) const;

  State state_ = State::awaited;
  bool head_out_ = false;
  bool trailers_allowed_ = false;
  bool ended_early_ = false;  // the body's end was seen before the head went out
  http::ResponseHead head_;
  http::Framing framing_;
  std::unique_ptr<http::BodySource> body_;
  std::vector<core::Piece> early_;  // pulled before the head went out
  std::uint64_t early_bytes_ = 0;
  std::uint64_t body_bytes_ = 0;
  core::Error error_;
};

}  // namespace portico::serve
