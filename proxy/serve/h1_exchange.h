// H1Exchange: one HTTP/1 request with its answer, as its session and its handler share it.
//
// Made by the session with the first byte of a head, destroyed when its answer has gone and its
// body has been read. Its calls only note what is wanted and wake the session, which does it: no
// handler ever runs the session's state machine (house rule 4).
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "proxy/core/recycled.h"
#include "proxy/core/timer.h"
#include "proxy/http/head.h"
#include "proxy/serve/client_input.h"
#include "proxy/serve/exchange.h"
#include "proxy/serve/h1_answer.h"
#include "proxy/serve/h1_body.h"
#include "proxy/serve/handler.h"
#include "proxy/serve/root.h"
#include "proxy/serve/session.h"

namespace portico::serve {

class H1Exchange final : public Exchange, public core::Recycled<H1Exchange> {
 public:
  /// root  is held until the exchange ends
  H1Exchange(Session& session, net::Transport& transport, ClientInput& input,
             std::shared_ptr<const Root> root);
  ~H1Exchange() override;  ///< ends it

  // For handlers: see Exchange.
  core::Loop& loop() const override { return session_.loop(); }
  const http::RequestHead& request() const override { return request_; }
  http::RequestHead& mutable_request() override { return request_; }
  const Connection& connection() const override { return session_.connection(); }
  Trace& trace() override { return trace_; }
  ExchangeLimits& limits() override { return limits_; }
  void report_to(const Journal& journal) override { journal_ = &journal; }
  http::BodySource& request_body() override { return body_; }
  void inform(http::ResponseHead head) override;
  void respond(http::ResponseHead head, std::unique_ptr<http::BodySource> body) override;
  void tunnel(http::ResponseHead head, std::unique_ptr<net::Transport> peer) override;
  void fail(core::Error error) override;
  bool answered() const override { return answered_; }

  // For the session.
  void head_complete();  ///< the request is in request(): its body is known, its task starts
  void start();
  H1Body& body() { return body_; }
  H1Answer& answer() { return answer_; }
  core::Moment& head_wait() { return head_wait_; }  ///< of the answer's head for its body
  void client_finished();                           ///< tells the task, once
  /// What fail() was told, once.
  std::optional<core::Error> take_failure() { return std::exchange(failure_, std::nullopt); }
  bool has_failure() const { return failure_.has_value(); }
  /// Notes a cause of failure, unless there is one.
  void blame(const core::Error& error);
  /// Puts an error page in the place of an answer, once. False: there is nobody to answer, or the
  /// head is out already; all that is left is to cut.
  bool answer_error(const core::Error& error);
  std::unique_ptr<net::Transport> take_tunnel() { return std::move(tunnel_); }
  bool becomes_tunnel() const { return tunnel_ != nullptr; }
  bool ended() const { return ended_; }
  /// Destroys body and task and tells the journal; what is left serves to drain the request's body.
  void end();
  /// Destroys it without telling anybody: no request had begun.
  void forget() { ended_ = true; }

 private:
  Session& session_;
  net::Transport& transport_;
  const std::shared_ptr<const Root> root_;
  const Journal* journal_;
  http::RequestHead request_;
  Trace trace_;
  ExchangeLimits limits_;
  bool answered_ = false;
  bool error_page_ = false;  // the answer is one
  bool client_finished_ = false;
  bool ended_ = false;
  std::optional<core::Error> failure_;
  std::unique_ptr<net::Transport> tunnel_;
  H1Body body_;
  std::unique_ptr<Task> task_;
  core::Moment head_wait_;
  H1Answer answer_;  // its body goes before the task that it may belong to
};

}  // namespace portico::serve
