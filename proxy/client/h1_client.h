// H1Client: a connection to an endpoint that speaks HTTP/1.1: idle, or with one request on it.
//
// Owned by Connections while idle, by an H1Stream while in use; one thread. It is polled (next,
// pull) and wakes whoever waits. Rules: RFC 9112 §9; security.md B: after a framing doubt, an
// error, an early response or an abort the connection is not reusable.
#pragma once

#include <memory>
#include <string>

#include "proxy/client/request_sender.h"
#include "proxy/client/response_body.h"
#include "proxy/client/stream.h"
#include "proxy/core/timer.h"
#include "proxy/http/h1_read.h"

namespace portico::client {

class Connections;
class Destination;

class H1Client final : public core::Active {
 public:
  H1Client(Connections& home, std::shared_ptr<Destination> destination,
           std::unique_ptr<net::Transport> transport);

  /// As the functions of Stream.
  void start(const Request& request, core::Active& owner);
  Stream::Event next();
  http::ResponseHead take_head() { return std::move(received_.head); }
  std::unique_ptr<net::Transport> take_transport();
  http::Pull pull(std::size_t room, core::Active& reader);
  const core::Error& error() const { return error_; }
  Stream::Facts facts() const;
  bool complete() const { return state_ == State::answering && body_.complete(); }
  void told_complete() { owner_.fire(); }  ///< wakes the owner for the last time
  bool has_trailers() const;

  /// Whether another request may be sent: complete, kept alive, nothing read behind the response.
  bool reusable() const;
  /// Becomes idle. From now on it tells its home when the endpoint closes, or its time is over.
  void rest();
  /// Idle: nothing has come, and the endpoint has not closed as far as is known.
  bool quiet();
  const std::shared_ptr<Destination>& destination() const { return destination_; }
  core::Time idle_since() const { return idle_since_; }

  void advance() override;

 private:
  enum class State : std::uint8_t {
    idle,           // from the beginning, and from rest()
    awaiting_head,  // from start(): the request is being sent, 1xx may come
    answering,      // from the final head: the body is pulled, the request may still be sent
    upgraded,       // from a valid 101; the transport leaves
    failed,         // error_ says why
  };

  void send_head(const Request& request);
  void send_on();
  Stream::Event read_head();
  bool read_input();
  Stream::Event sort_head();
  Stream::Event sort_interim(int status);
  Stream::Event accept_upgrade();
  void note_keep_alive();
  Stream::Event fail(const core::Error& error);
  http::Pull pull_failed(const core::Error& error);
  void filter_trailers(http::Pull& pull);
  void time_silence(bool waits_for_answer);

  Connections& home_;
  std::shared_ptr<Destination> destination_;
  std::unique_ptr<net::Transport> transport_;
  State state_ = State::idle;
  core::Timer timer_;              // idle: the end of its time; in use: the endpoint's silence
  core::Active* asker_ = nullptr;  // the owner, which calls next(); it may die before this
  core::Wakeup owner_;
  core::Wakeup reader_;
  RequestSender sender_;
  http::ResponseReader head_reader_;
  http::ReceivedHead received_;
  ResponseBody body_;
  core::Slice input_;  // read, not yet used
  core::Error error_;

  std::string method_;
  const http::RequestHead* upgrade_ = nullptr;
  bool takes_trailers_ = false;
  std::unique_ptr<http::Headers> trailers_;
  core::Duration silence_{};
  core::Duration keep_{};
  std::uint64_t sent_ = 0;      // by the transport, when the silence began
  std::uint64_t requests_ = 0;  // on this connection
  unsigned interim_heads_ = 0;  // for this request
  bool answer_began_ = false;
  core::Time idle_since_{};
};

}  // namespace portico::client
