// Exchange: one request with its response. Owned by its session; one thread.
//
// The session implements it; handlers see only this face. Trace is what is known of the exchange in
// the end: tasks fill in their part, the session the rest, and the journal writes the access-log
// line.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "proxy/core/loop.h"
#include "proxy/core/result.h"
#include "proxy/http/body.h"
#include "proxy/http/head.h"
#include "proxy/net/address.h"
#include "proxy/net/transport.h"

namespace portico::serve {

class Exchange;

/// What the log, the metrics and the error page say of an exchange. Views belong to the snapshot or
/// to the exchange.
struct Trace {
  core::Slice request_id;  ///< given by us (or by a trusted proxy)
  std::string_view site;   ///< name; empty before routing
  std::string_view route;  ///< path of the route
  std::string upstream;    ///< the endpoint's address or "worker 3"
  /// Who asks: the peer of the socket, or whom a trusted proxy names. No family before routing.
  net::Address client;
  bool secure = false;  ///< whether that client uses https; like `client` set by the router
  core::Error error;    ///< the cause of failure; Fault::none when it went well
  core::Time started;   ///< first byte of the request
  core::Time head_complete;
  core::Time handed_over;  ///< left the queue: a worker claimed it, an endpoint had room
  core::Time connected;    ///< a connection to the endpoint was there
  core::Time first_byte;   ///< head of the answer
  core::Time ended;
  int status = 0;                    ///< of the final response; 0 when none was sent
  std::uint64_t request_bytes = 0;   ///< of the body
  std::uint64_t response_bytes = 0;  ///< of the body, as sent
  unsigned attempts = 0;             ///< to endpoints or workers
  /// For a 503: when it may be worth to ask again, where a task knows better than the error page.
  core::Duration retry_after{};
};

/// Facts of the connection that the request came by. They live as long as the session.
struct Connection {
  net::Address client;        ///< the peer of the socket
  net::Address local;         ///< as the listener is bound
  bool secure = false;        ///< TLS with the client
  std::string_view listener;  ///< as it stands in the configuration
  /// Whose process it was that connected to a Unix socket.
  std::optional<uid_t> user = std::nullopt;
};

/// Hears of every finished exchange, once; owned by the snapshot or the server. Any front thread.
class Journal {
 public:
  virtual ~Journal() = default;
  virtual void finished(const Exchange& exchange) const = 0;
};

/// Makes the body of an error answer (text or HTML by Accept) and may add fields to its head.
class ErrorPages {
 public:
  virtual ~ErrorPages() = default;
  virtual core::Slice page(const Exchange& exchange, const core::Error& error,
                           http::ResponseHead& head) const = 0;
};

/// Limits of one exchange; the session starts with those of its Root, the router sets its route's.
struct ExchangeLimits {
  std::uint64_t body_bytes = 32u << 20;  ///< of the request's body; 413
  /// The windows in which the client must move `client_rate` bytes a second, as long as there is
  /// something to move: of the request's body (408), of the answer (cut).
  core::Duration body_wait = std::chrono::seconds(30);
  core::Duration send_wait = std::chrono::seconds(120);
  std::uint64_t client_rate = 64;
  /// What the connection waits after this exchange: between two requests, and for a whole head.
  core::Duration idle_wait = std::chrono::seconds(60);
  core::Duration header_wait = std::chrono::seconds(10);
  core::Duration tunnel_wait = std::chrono::minutes(10);  ///< of a tunnel in which nothing moves
};

class Exchange {
 public:
  virtual ~Exchange() = default;

  virtual core::Loop& loop() const = 0;
  virtual const http::RequestHead& request() const = 0;
  /// For the router and its like: canonicalising, removing and adding fields before a task starts.
  virtual http::RequestHead& mutable_request() = 0;
  virtual const Connection& connection() const = 0;
  virtual Trace& trace() = 0;
  const Trace& trace() const { return const_cast<Exchange*>(this)->trace(); }
  virtual ExchangeLimits& limits() = 0;
  /// From here on this journal hears of the exchange's end, and no other. It must outlive the
  /// exchange (the exchange holds the snapshot).
  virtual void report_to(const Journal& journal) = 0;

  /// The first pull sends 100 Continue where the client waits for it. Ends with body_too_large,
  /// body_timeout, bad_chunk or client_gone.
  virtual http::BodySource& request_body() = 0;

  virtual void inform(http::ResponseHead head) = 0;  ///< a 1xx; dropped for HTTP/1.0 clients
  /// The answer; once. A null body is an empty one. The session adds Date, framing, Connection and,
  /// in place of any other, X-Request-ID where trace().request_id stands.
  virtual void respond(http::ResponseHead head, std::unique_ptr<http::BodySource> body) = 0;
  /// 101, or 2xx to CONNECT: from here on bytes go both ways as they are.
  virtual void tunnel(http::ResponseHead head, std::unique_ptr<net::Transport> peer) = 0;
  /// An error page; an abort that the client can tell from an end once the head has gone.
  virtual void fail(core::Error error) = 0;
  virtual bool answered() const = 0;  ///< respond, tunnel or fail was called
};

/// Whether the request already tells that its body is over the limit: the router asks this once it
/// has set the route's limits, and answers Fault::body_too_large before a task starts.
inline bool declares_too_much(Exchange& exchange) {
  const http::Framing& framing = exchange.request().framing;
  return framing.kind == http::Framing::Kind::length &&
         framing.length > exchange.limits().body_bytes;
}

}  // namespace portico::serve
