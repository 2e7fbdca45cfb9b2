#include "proxy/serve/h1_exchange.h"

#include <utility>

#include "proxy/http/hop.h"

namespace portico::serve {

using core::Error;
using core::Fault;

namespace {

// An error page when nobody makes a better one.
core::Slice plain_page(const core::FaultInfo& info, http::ResponseHead& head) {
  head.fields.add("Content-Type", "text/plain; charset=utf-8");
  core::Buffer text(info.sentence.size() + 1);
  text.append(info.sentence);
  text.append('\n');
  return text.take();
}

}  // namespace

H1Exchange::H1Exchange(Session& session, net::Transport& transport, ClientInput& input,
                       std::shared_ptr<const Root> root)
    : session_(session),
      transport_(transport),
      root_(std::move(root)),
      journal_(root_->journal),
      limits_(root_->limits),
      body_(session, transport, input, limits_),
      head_wait_(session) {
  trace_.started = session.loop().now();
}

H1Exchange::~H1Exchange() { end(); }

void H1Exchange::head_complete() {
  trace_.head_complete = loop().now();
  body_.begin(request_, root_->head);
  if (request_.version != http::Version::http10 && http::accepts_trailers(request_.fields))
    answer_.allow_trailers();
}

void H1Exchange::start() {
  if (request_.method == "TRACE") return fail({Fault::method_refused, 0, "reading the request"});
  task_ = root_->handler->start(*this);
}

void H1Exchange::inform(http::ResponseHead head) {
  if (answered_ || request_.version == http::Version::http10) return;
  if (transport_.unsent() >= net::Transport::low_water) return;  // only hints: never worth memory
  core::Buffer buffer(256);
  if (!http::write_response_head(buffer, head, {}, http::Connection::keep, request_.version))
    return;
  transport_.send(buffer.take());
  session_.wake();
}

void H1Exchange::respond(http::ResponseHead head, std::unique_ptr<http::BodySource> body) {
  if (std::exchange(answered_, true)) return;
  answer_.set(std::move(head), std::move(body));
  session_.wake();
}

void H1Exchange::tunnel(http::ResponseHead head, std::unique_ptr<net::Transport> peer) {
  if (!body_.complete()) return fail({Fault::upgrade_refused, 0, "opening the tunnel"});
  if (std::exchange(answered_, true)) return;
  tunnel_ = std::move(peer);
  answer_.set(std::move(head), nullptr);
  session_.wake();
}

void H1Exchange::fail(Error error) {
  answered_ = true;
  if (!failure_ && !error_page_) failure_ = error;
  session_.wake();
}

bool H1Exchange::answer_error(const Error& error) {
  blame(error);
  const core::FaultInfo& info = core::fault_info(error.fault);
  if (answer_.head_out() || info.fault == Fault::client_gone) return false;
  if (std::exchange(error_page_, true)) return false;
  tunnel_.reset();
  if (trace_.request_id.empty() && root_->make_request_id != nullptr)
    trace_.request_id = root_->make_request_id();
  http::ResponseHead head;
  head.status = info.status;
  core::Slice page =
      root_->pages != nullptr ? root_->pages->page(*this, error, head) : plain_page(info, head);
  head.length = page.size();
  answer_.set(std::move(head), std::make_unique<http::ReadyBody>(std::move(page)));
  return true;
}

void H1Exchange::blame(const Error& error) {
  if (trace_.error.fault == Fault::none) trace_.error = error;
}

void H1Exchange::client_finished() {
  if (std::exchange(client_finished_, true) || task_ == nullptr) return;
  task_->client_finished();
}

void H1Exchange::end() {
  if (std::exchange(ended_, true)) return;
  answer_.drop_body();
  task_.reset();
  trace_.ended = loop().now();
  if (journal_ != nullptr) journal_->finished(*this);
}

}  // namespace portico::serve
