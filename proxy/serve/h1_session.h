// H1Session: a client connection that speaks HTTP/1.1 or 1.0.
//
// Owned by its server, whose thread runs it. One request at a time: the next head is parsed when
// the exchange before it has ended, so that pipelined requests are answered in order and cost no
// memory. ARCHITECTURE.md ("One request") rules it; RFC 9112 §9.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "proxy/core/recycled.h"
#include "proxy/core/timer.h"
#include "proxy/http/h1_read.h"
#include "proxy/net/transport.h"
#include "proxy/serve/client_input.h"
#include "proxy/serve/h1_exchange.h"
#include "proxy/serve/pace.h"
#include "proxy/serve/session.h"
#include "proxy/serve/tunnel.h"

namespace portico::serve {

class Server;

class H1Session final : public Session, public core::Recycled<H1Session> {
 public:
  enum class State : std::uint8_t {
    idle,           ///< no byte of a request is here; from the start, and after each exchange
    reading_head,   ///< from a head's first byte to its last
    running,        ///< a task is at work, or its answer is on its way
    draining_body,  ///< the answer has gone, the rest of the request's body has not come
    tunnel,         ///< after a 101 until both sides have ended
    closed,         ///< nothing more to do but to be retired
  };

  H1Session(Server& server, std::unique_ptr<net::Transport> transport, Connection connection,
            ConnectionCounts::Counting counting);
  ~H1Session() override;

  void advance() override;
  void drain() override;
  void abort() override;
  const Connection& connection() const override { return connection_; }
  State state() const { return state_; }

 private:
  /// moved: another step may follow at once; stuck: something has to happen first.
  enum class Step : bool { moved, stuck };
  /// How much of an unread body is read and thrown away to keep a connection: less than a new
  /// connection costs.
  static constexpr std::uint64_t drain_bytes = 64 * 1024;

  Step step();

  // idle, reading_head
  Step await_request();
  Step begin_exchange();
  Step read_head();
  Step head_arrived();
  Step head_was_nothing();
  Step refuse_head(const core::Error& error);

  // running (h1_session_answer.cc)
  Step run();
  void listen_to_client();
  bool client_too_slow();
  Step give_answer();
  Step flush_interim();
  core::Flow send_head();
  Step send_body();
  Step push_out(core::Flow pulled);
  Step answer_failed();
  Step answer_gone();
  bool keeps_connection();
  http::Connection connection_field() const;
  void dress(http::ResponseHead& head);
  bool head_waits_for_body();
  bool fills_in_small_steps() const;
  void hold(std::uint64_t bytes);

  // draining_body, tunnel
  Step drain_body();
  Step open_tunnel();
  Step pass_bytes();

  // the end of an exchange, or of the connection
  Step next_request();
  Step close();                         ///< in order: what was answered arrives
  Step cut(const core::Error& error);   ///< so that the client can tell
  Step lose(const core::Error& error);  ///< the client has gone
  Step finish();
  void end_exchange();

  void enter(State state);
  bool due() const;
  std::optional<core::Time> deadline() const;
  std::optional<core::Time> running_deadline() const;
  void settle();

  Server& server_;
  std::unique_ptr<net::Transport> transport_;
  Connection connection_;
  State state_ = State::idle;
  bool leaving_ = false;        // no further request is served
  bool aborted_ = false;        // cut what runs
  bool keep_alive_ = true;      // what the head of the answer said
  bool lost_count_ = false;     // where a next request would begin is not known
  bool exchange_over_ = false;  // the journal has heard of exchange_
  ClientInput input_;
  http::RequestReader reader_;
  std::unique_ptr<H1Exchange> exchange_;
  std::unique_ptr<Tunnel> tunnel_;
  Pace sending_;
  std::uint64_t held_ = 0;    // bytes that wait for a client that does not read
  core::Time since_;          // this state began, or something last moved in it
  core::Duration idle_wait_;  // of the latest exchange's route
  core::Duration header_wait_;
  std::uint64_t tunnel_moved_ = 0;  // bytes, when since_ was set
  core::Timer timer_;
};

std::string_view name(H1Session::State state);

}  // namespace portico::serve
