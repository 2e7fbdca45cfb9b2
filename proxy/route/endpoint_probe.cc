#include "proxy/route/endpoint_probe.h"

#include <algorithm>
#include <utility>

#include "proxy/core/log.h"

namespace portico::route {
namespace {

using balancer::Probed;
using core::Error;
using core::Fault;
using Event = client::Stream::Event;

constexpr Error too_slow{Fault::response_timeout, 0, "probing"};
constexpr Error bad_status{Fault::bad_response, 0, "probing: its status is not one of the good"};

}  // namespace

EndpointProbe::EndpointProbe(client::Connections& connections, client::Dialer& dialer,
                             const std::shared_ptr<LivePool>& pool, std::size_t member)
    : core::Active(connections.loop()),
      connections_(connections),
      dialer_(dialer),
      pool_(pool),
      endpoint_(pool->endpoint(member)),
      pool_name_(pool->written().name),
      health_(pool->written().health.value_or(conf::Health{})),
      timer_(*this) {
  const conf::Address& address = endpoint_->written();
  host_ = !health_.host.empty() ? health_.host : address.is_unix() ? "localhost" : address.text();
  fields_.add("host", host_);
  fields_.add("user-agent", "portico (health)");
}

void EndpointProbe::consider(Urgency urgency) {
  if (state_ != State::resting || endpoint_->addresses()->empty()) return;
  if (urgency == Urgency::when_due && loop().now() < next_) return;
  begin();
  wake();
}

void EndpointProbe::begin() {
  next_ = loop().now() + health_.interval;
  timer_.set_after(health_.timeout);
  addresses_ = endpoint_->addresses();
  address_ = 0;
  body_bytes_ = 0;
  state_ = State::connecting;
}

void EndpointProbe::advance() {
  while (step()) continue;
}

bool EndpointProbe::step() {
  if (state_ == State::resting) return false;
  if (timer_.due())
    return state_ == State::reading ? finish(Probed::well, {}) : finish(Probed::ill, too_slow);
  switch (state_) {
    case State::resting:
      return false;
    case State::connecting:
      return dial_ ? connect() : dial();
    case State::asking:
      return read_status();
    case State::reading:
      return read_body();
  }
  return false;
}

bool EndpointProbe::dial() {
  dial_ = dialer_.dial(*this, (*addresses_)[address_], timer_.deadline() - loop().now());
  return true;
}

bool EndpointProbe::connect() {
  auto connected = dial_->take();
  if (!connected) return try_next(connected.error());
  if (*connected == nullptr) return false;
  dial_.reset();
  if (health_.path.empty()) return finish(Probed::well, {});
  return ask(std::move(*connected));
}

bool EndpointProbe::try_next(const Error& error) {
  dial_.reset();
  // Our own want of descriptors says nothing about the endpoint.
  if (core::fault_info(error.fault).side != core::Side::endpoint) {
    timer_.clear();
    state_ = State::resting;
    return false;
  }
  if (++address_ < addresses_->size()) return true;
  return finish(Probed::ill, error);
}

bool EndpointProbe::ask(std::unique_ptr<net::Transport> transport) {
  stream_ = connections_.open(endpoint_, std::move(transport));
  client::Request request;
  request.method = "GET";
  request.target = health_.path;
  request.fields = &fields_;
  request.silence = health_.timeout;
  request.keep = {};
  stream_->start(request, *this);
  state_ = State::asking;
  return true;
}

bool EndpointProbe::read_status() {
  switch (stream_->next()) {
    case Event::wait:
      return false;
    case Event::informed:
      stream_->take_head();
      return true;
    case Event::head:
      break;
    case Event::upgraded:
    case Event::fail:
      return finish(Probed::ill, stream_->error());
  }
  const auto status = static_cast<unsigned>(stream_->take_head().status);
  if (status < health_.status_first || status > health_.status_last)
    return finish(Probed::ill, bad_status);
  state_ = State::reading;
  return true;
}

bool EndpointProbe::read_body() {
  const http::Pull pull = stream_->pull(most_body_bytes, *this);
  if (pull.flow == core::Flow::wait) return false;
  if (pull.flow == core::Flow::data) body_bytes_ += core::length(pull.piece);
  if (pull.flow == core::Flow::data && body_bytes_ < most_body_bytes) return true;
  return finish(Probed::well, {});
}

bool EndpointProbe::finish(Probed result, const Error& error) {
  timer_.clear();
  dial_.reset();
  stream_.reset();
  state_ = State::resting;
  const std::shared_ptr<LivePool> pool = pool_.lock();
  if (!pool) return false;
  const balancer::Condition before = endpoint_->state().condition();
  if (endpoint_->state().probed(result, pool->balancer().thresholds())) tell(before, error);
  pool->recount(loop().now());
  return false;
}

// That an endpoint is there after a start is what everybody expects.
void EndpointProbe::tell(balancer::Condition before, const Error& error) const {
  const bool well = error.fault == Fault::none;
  std::string line = "pool " + pool_name_ + ": endpoint " + endpoint_->state().name() + " is ";
  line.append(balancer::name(endpoint_->state().condition()));
  if (!well) line.append(" (").append(core::describe(error)).append(")");
  const core::Level good =
      before == balancer::Condition::probing ? core::Level::debug : core::Level::info;
  core::log(well ? good : core::Level::warning, line);
}

}  // namespace portico::route
