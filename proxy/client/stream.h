// Stream: one request to an endpoint and its response; the face that HTTP/1.1 and HTTP/2 share.
//
// Owned by the task that relays, until the response's head is there; then it is the response's body
// and belongs to whoever pulls it. One thread. Destroying it before the body's end cancels: the
// connection is closed, never given back (security: after an abort nothing is certain).
#pragma once

#include <memory>
#include <string_view>

#include "proxy/core/loop.h"
#include "proxy/core/result.h"
#include "proxy/http/body.h"
#include "proxy/http/head.h"
#include "proxy/http/limits.h"
#include "proxy/net/transport.h"

namespace portico::client {

/// What is asked. The views and `fields` must stay until start() returns, `body` and `upgrade`
/// until the response is complete or the stream is gone.
struct Request {
  std::string_view method;
  std::string_view target;                ///< canonical, with the query
  const http::Headers* fields = nullptr;  ///< with Host, without hop-by-hop fields
  http::Framing framing;                  ///< of `body`
  http::BodySource* body = nullptr;       ///< null where framing says none
  /// The client's request where it asks for a WebSocket: only then may a 101 come.
  const http::RequestHead* upgrade = nullptr;
  bool takes_trailers = false;  ///< else the response's trailers are dropped
  /// The longest silence of the endpoint: from the request sent to the head, then between two parts
  /// of the body. It does not count while we wait for the client or do not pull.
  core::Duration silence = std::chrono::seconds(60);
  core::Duration keep = std::chrono::seconds(60);  ///< the longest that a connection lies idle
};

/// A response's head may be larger than a request's: all cookies may be set in one.
inline constexpr http::ReadLimits response_limits{64 * 1024, 8 * 1024, 256};

class Stream : public http::BodySource {
 public:
  enum class Event : std::uint8_t {
    wait,      ///< the owner is woken when there is more
    informed,  ///< a 1xx is there: take_head(), then go on asking
    head,      ///< the final head is there: take_head(); from now on pull() gives the body
    upgraded,  ///< a valid 101 is there: take_head(), take_transport()
    fail,      ///< see error(); the same again from now on
  };
  /// How far the request got; decides whether it may be sent again.
  struct Facts {
    bool reused = false;        ///< the connection had carried a request before
    bool answer_began = false;  ///< a byte of an answer has come
    bool body_taken = false;    ///< something of the request's body was pulled
    bool request_sent = false;  ///< the whole request has left
  };

  /// Sends the request, as far as it goes; once. `owner` is woken for events, and once more when
  /// the response is complete; it may die before.
  virtual void start(const Request& request, core::Active& owner) = 0;
  virtual Event next() = 0;
  virtual http::ResponseHead take_head() = 0;
  /// The connection after Event::upgraded; what the endpoint sent behind its 101 is read first.
  virtual std::unique_ptr<net::Transport> take_transport() = 0;
  /// Errors  endpoint_closed, endpoint_reset, bad_response, response_too_large, response_timeout,
  ///         response_cut; those of the request's body; internal
  virtual const core::Error& error() const = 0;
  virtual Facts facts() const = 0;
};

}  // namespace portico::client
