// ResponseBody: the body of one HTTP/1 response, taken off its connection as it is pulled.
//
// Part of an H1Client; one thread. Rules: RFC 9112 §6.3 (length), §7.1 (chunked), §8 (what is cut
// is told as a failure). Long plain stretches come as pipes where the transport can splice.
#pragma once

#include <cstdint>
#include <optional>

#include "proxy/core/bytes.h"
#include "proxy/core/result.h"
#include "proxy/http/body.h"
#include "proxy/http/chunked.h"
#include "proxy/http/head.h"
#include "proxy/net/transport.h"

namespace portico::client {

class ResponseBody {
 public:
  void begin(const http::Framing& framing);

  /// The next piece. Takes from `input` first (what was read behind the head), and leaves there
  /// what follows the body. Flow::wait: the transport's owner will be woken.
  /// Errors  response_cut; bad_response and response_too_large of the chunked coding
  http::Pull pull(std::size_t room, net::Transport& transport, core::Slice& input);

  bool complete() const { return state_ == State::complete; }
  /// Fields behind a chunked body; empty for other bodies.
  const http::Headers* trailers() const { return chunks_ ? &chunks_->trailers() : nullptr; }

 private:
  enum class State : std::uint8_t {
    running,   // from begin()
    complete,  // the last byte has been handed out, or there was none
    failed,    // error_ says why
  };
  /// From this many bytes on a splice (two system calls and a pipe) is cheaper than copying.
  static constexpr std::uint64_t splice_from = 64 * 1024;

  std::uint64_t plain_bytes_due() const;
  http::Pull decode(std::size_t room, core::Slice& input);
  http::Pull decode_chunks(std::size_t room, core::Slice& input);
  http::Pull take_pipe(core::Piece piece);
  http::Pull peer_ended();
  http::Pull fail(const core::Error& error);
  http::Pull finished();

  State state_ = State::complete;
  http::Framing::Kind kind_ = http::Framing::Kind::none;
  std::uint64_t left_ = 0;  // of Kind::length
  std::optional<http::ChunkedDecoder> chunks_;
  core::Error error_;
};

}  // namespace portico::client
