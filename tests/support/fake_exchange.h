// FakeExchange: an Exchange without a session, for tests of handlers: the request is given as the
// text of its head, what the handler did is kept to be looked at. One thread.
#pragma once

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proxy/core/loop.h"
#include "proxy/http/h1_read.h"
#include "proxy/serve/exchange.h"

namespace portico::tests {

/// A head as it comes from the wire; throws where it is not valid.
inline http::RequestHead read_head(std::string_view text) {
  http::RequestHead head;
  http::RequestReader reader(
      {.header_bytes = 1 << 20, .target_bytes = 1 << 20, .header_fields = 10'000});
  core::Slice input = core::Slice::copy(text);
  if (reader.feed(input, head) != http::Progress::head)
    throw std::runtime_error("not a head: " + std::string(text) + core::describe(reader.error()));
  return head;
}

class FakeExchange final : public serve::Exchange {
 public:
  explicit FakeExchange(std::string_view head_text) : FakeExchange(head_text, nullptr) {}
  /// loop  that of the test; null: one of its own, driven by hand
  FakeExchange(std::string_view head_text, core::Loop* loop)
      : own_loop_(loop == nullptr ? std::make_unique<core::Loop>(core::Loop::Drive::by_hand)
                                  : nullptr),
        loop_(loop == nullptr ? own_loop_.get() : loop),
        head_(read_head(head_text)) {
    connection_.client = *net::Address::parse("192.0.2.7:4711");
    connection_.local = *net::Address::parse("198.51.100.1:80");
    connection_.listener = ":80";
  }

  core::Loop& loop() const override { return *loop_; }
  const http::RequestHead& request() const override { return head_; }
  http::RequestHead& mutable_request() override { return head_; }
  const serve::Connection& connection() const override { return connection_; }
  serve::Trace& trace() override { return trace_; }
  serve::ExchangeLimits& limits() override { return limits_; }
  void report_to(const serve::Journal& journal) override { journal_ = &journal; }
  http::BodySource& request_body() override { return source_ == nullptr ? body_ : *source_; }
  void inform(http::ResponseHead head) override { informed_.push_back(head.status); }
  void respond(http::ResponseHead head, std::unique_ptr<http::BodySource> body) override {
    trace_.status = head.status;
    response_ = std::move(head);
    response_body_ = std::move(body);
  }
  void tunnel(http::ResponseHead head, std::unique_ptr<net::Transport>) override {
    response_ = std::move(head);
  }
  void fail(core::Error error) override {
    trace_.error = error;
    trace_.status = core::fault_info(error.fault).status;
    failed_ = true;
  }
  bool answered() const override { return failed_ || response_.has_value(); }

  serve::Connection& facts() { return connection_; }
  void come_from(std::string_view address) { connection_.client = *net::Address::parse(address); }
  core::Fault fault() const { return trace_.error.fault; }
  const serve::Journal* journal() const { return journal_; }
  /// The request's body is pulled from here; else it is empty.
  void bring(http::BodySource& source) { source_ = &source; }
  const std::vector<int>& informed() const { return informed_; }
  /// What it was answered with; a session destroys it when nobody wants it.
  std::unique_ptr<http::BodySource>& response_body() { return response_body_; }
  const std::optional<http::ResponseHead>& response() const { return response_; }
  /// The value of a request field as it stands now; "-" where there is none.
  std::string field(std::string_view name) const {
    const std::string_view* value = head_.fields.find(name);
    return value == nullptr ? "-" : std::string(*value);
  }

 private:
  std::unique_ptr<core::Loop> own_loop_;
  core::Loop* loop_;
  http::RequestHead head_;
  serve::Connection connection_;
  serve::Trace trace_;
  serve::ExchangeLimits limits_;
  const serve::Journal* journal_ = nullptr;
  http::ReadyBody body_{core::Slice()};
  http::BodySource* source_ = nullptr;
  std::vector<int> informed_;
  std::optional<http::ResponseHead> response_;
  std::unique_ptr<http::BodySource> response_body_;
  bool failed_ = false;
};

}  // namespace portico::tests
