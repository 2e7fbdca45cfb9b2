// H1Body: the body of an HTTP/1 request as it comes from the client: by length or chunked.
//
// A member of its exchange; one thread. Bytes are read when they are pulled, never before: that is
// the whole of back-pressure. The first pull sends 100 Continue where the client waits for it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "proxy/core/loop.h"
#include "proxy/http/body.h"
#include "proxy/http/chunked.h"
#include "proxy/http/head.h"
#include "proxy/serve/client_input.h"
#include "proxy/serve/exchange.h"
#include "proxy/serve/pace.h"

namespace portico::serve {

class H1Body final : public http::BodySource {
 public:
  /// How much one read may bring: a body that comes fast costs few calls.
  static constexpr std::size_t read_bytes = core::large_block_bytes;

  /// session  is woken when the body's deadline changes or a 100 Continue is to go out
  H1Body(core::Active& session, net::Transport& transport, ClientInput& input,
         const ExchangeLimits& limits)
      : session_(session), transport_(transport), input_(input), limits_(limits) {}

  /// Once, when the head is complete. trailer_limits  of the trailers of a chunked body
  void begin(const http::RequestHead& head, const http::ReadLimits& trailer_limits);

  http::Pull pull(std::size_t room, core::Active& reader) override;

  bool complete() const { return complete_; }
  bool failed() const { return error_.fault != core::Fault::none; }
  const core::Error& error() const { return error_; }
  std::uint64_t taken() const { return taken_; }  ///< bytes handed out
  /// The client waits for a 100 Continue that has not been sent.
  bool unasked() const { return unasked_; }
  /// No 100 Continue will be sent any more: the answer has begun.
  void stop_asking() { may_ask_ = false; }
  /// Bytes still to come; nothing where the client has not told.
  std::optional<std::uint64_t> left() const;

  /// Who pulled and was told to wait: woken when there is something, or the end.
  bool reader_waits() const { return reader_.aimed(); }
  void wake_reader();

  /// While somebody waits for the client: when to call expire().
  std::optional<core::Time> deadline() const;
  void expire();  ///< fails the body with body_timeout when too little has come

 private:
  http::Pull next(std::size_t room);
  http::Pull next_of_length(std::size_t room);
  http::Pull next_of_chunks(std::size_t room);
  http::Pull hand_out(core::Slice bytes);
  http::Pull end();
  http::Pull fail(core::Error error);
  http::Pull none_arrived(core::Flow flow);
  void ask();

  core::Active& session_;
  net::Transport& transport_;
  ClientInput& input_;
  const ExchangeLimits& limits_;
  bool complete_ = true;
  bool unasked_ = false;
  bool may_ask_ = true;
  http::Framing framing_;
  std::uint64_t taken_ = 0;
  std::optional<http::ChunkedDecoder> decoder_;
  std::unique_ptr<http::Headers> trailers_;
  core::Error error_;
  core::Wakeup reader_;
  Pace pace_;
};

}  // namespace portico::serve
