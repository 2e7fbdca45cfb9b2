// WsgiCall: the task of one exchange that an application answers.
//
// Owned by its exchange; the front thread. collecting (the body comes in) → flying (queued, sent,
// claimed: see Flight) → answering (the head has come) → over. Where the route has its requests
// streamed, nothing is collected: the body goes through a BodyFeed while the worker reads.
// Destroying it takes the record back or cancels it.
#pragma once

#include <memory>

#include "backend/front/answer_body.h"
#include "backend/front/application.h"
#include "backend/front/body_feed.h"
#include "backend/front/flight.h"
#include "backend/front/request_body.h"
#include "conf/config.h"
#include "proxy/core/loop.h"
#include "proxy/core/timer.h"
#include "proxy/serve/exchange.h"
#include "proxy/serve/handler.h"

namespace portico::backend {

class WsgiCall final : public serve::Task,
                       public core::Active,
                       public AnswerSink,
                       public AnswerBody::Owner,
                       public BodyFeed::Owner {
 public:
  enum class State { collecting, flying, answering, over };

  WsgiCall(serve::Exchange& exchange, Application& application, const conf::Route& route,
           std::string_view script_name);
  ~WsgiCall() override;

  /// Goes as far as it can at once.
  void begin();
  bool over() const { return state_ == State::over; }

  void advance() override;
  void client_finished() override;

 private:
  bool write_record(Flight& flight) override;
  void on_interim(const record::AnswerHead& head) override;
  void on_head(const record::AnswerHead& head) override;
  void on_data(core::Slice bytes) override;
  void on_file(core::FileRange range) override;
  void on_end() override;
  void on_abort(record::AbortReason reason) override;
  bool on_worker_lost(unsigned deaths) override;
  void on_unavailable() override;
  bool full() const override { return body_ != nullptr && body_->full(); }
  void body_drained() override;
  void body_dropped() override;
  bool may_feed() const override { return flight_ != nullptr && flight_->claimed(); }
  void feed_failed(const core::Error& error) override;

  bool is_streamed() const;
  void collect();
  void submit();
  void on_deadline();
  void queue_deadline();
  core::Time queue_ends() const;
  void await_claim(core::Time deadline);
  core::Result<void> write_whole(Flight& flight);
  core::Result<void> write_streamed(Flight& flight);
  core::Time last_sign() const;
  void response_deadline();
  void note_claim();
  void let_go();
  void fail(core::Fault fault, std::string_view doing);
  void fail(core::Error error);
  core::Time claimed_at() const;

  serve::Exchange& exchange_;
  Application& application_;
  const conf::Route& route_;
  std::string_view script_name_;
  State state_ = State::collecting;
  RequestBody request_body_;
  std::unique_ptr<BodyFeed> feed_;  // in its place, where the request is streamed
  Flight* flight_ = nullptr;
  AnswerBody* body_ = nullptr;  // owned by the exchange once it was responded
  core::Time queued_at_;
  core::Duration starting_before_{};  // Application::time_starting when it was queued
  bool client_left_ = false;          // has ended its side, and may still read
  core::Time last_frame_;
  core::Timer timer_;
};

}  // namespace portico::backend
