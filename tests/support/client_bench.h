// ClientBench: what tests of the client room share: a loop driven by hand, connections to a
// destination that notes what it learns, and an asker that collects what a stream tells.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "proxy/client/connections.h"
#include "proxy/client/destination.h"
#include "proxy/client/stream.h"
#include "proxy/core/loop.h"
#include "proxy/http/body.h"
#include "tests/support/memory_transport.h"

namespace portico::tests {

struct NotingDestination final : client::Destination {
  core::Duration limit = std::chrono::seconds(60);
  std::optional<core::Duration> told;
  std::vector<core::Duration> closed_at;

  core::Duration idle_limit(core::Duration configured, core::Time) const override {
    return std::min(limit, configured);
  }
  void told_idle_limit(core::Duration value, core::Time) override { told = value; }
  void closed_idle(core::Duration age, core::Time) override { closed_at.push_back(age); }
};

inline std::string bytes_of(const core::Piece& piece) {
  if (const auto* slice = std::get_if<core::Slice>(&piece)) return std::string(slice->view());
  const auto& range = std::get<core::PipeRange>(piece);
  std::string bytes(range.pipe->held, '\0');
  const ssize_t got = ::read(range.pipe->read_end.get(), bytes.data(), bytes.size());
  bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  range.pipe->held = 0;
  return bytes;
}

/// A request body that a test feeds.
class FedBody final : public http::BodySource {
 public:
  http::Pull pull(std::size_t room, core::Active& reader) override {
    ++pulls;
    if (!bytes_.empty()) {
      const std::string part = bytes_.substr(0, room);
      bytes_.erase(0, part.size());
      return {core::Flow::data, core::Slice::copy(part), nullptr, {}};
    }
    if (error_.fault != core::Fault::none) return {core::Flow::fail, {}, nullptr, error_};
    if (ended_) return {core::Flow::end, {}, trailers, {}};
    reader_.aim(reader);
    return {};
  }
  void feed(std::string_view bytes) {
    bytes_ += bytes;
    reader_.fire();
  }
  void end() {
    ended_ = true;
    reader_.fire();
  }
  void fail(core::Fault fault) {
    error_ = {fault, 0, "reading a body in a test"};
    reader_.fire();
  }

  int pulls = 0;
  const http::Headers* trailers = nullptr;

 private:
  std::string bytes_;
  bool ended_ = false;
  core::Error error_;
  core::Wakeup reader_;
};

/// Owner of one stream: asks for events and pulls the body as it is woken; notes all.
class Asker final : public core::Active {
 public:
  explicit Asker(core::Loop& loop) : Active(loop) {}

  void ask(std::unique_ptr<client::Stream> stream, const client::Request& request) {
    stream_ = std::move(stream);
    stream_->start(request, *this);
    advance();
  }

  void advance() override {
    ++wakes;
    while (stream_ && !relaying_ && take_event()) continue;
    while (stream_ && relaying_ && pulls && take_piece()) continue;
  }

  client::Stream& stream() { return *stream_; }
  void drop() { stream_.reset(); }

  std::vector<int> interim;                ///< statuses of 1xx
  std::optional<http::ResponseHead> head;  /// the final one, or that of the 101
  std::unique_ptr<net::Transport> upgraded;
  std::string body;
  std::vector<std::string> trailers;
  bool ended = false;
  core::Error error;
  bool pulls = true;  ///< false: back-pressure
  int wakes = 0;
  std::size_t room = 64 * 1024;

 private:
  bool take_event() {
    using Event = client::Stream::Event;
    switch (stream_->next()) {
      case Event::wait:
        return false;
      case Event::informed:
        interim.push_back(stream_->take_head().status);
        return true;
      case Event::head:
        head = stream_->take_head();
        return relaying_ = true;
      case Event::upgraded:
        head = stream_->take_head();
        upgraded = stream_->take_transport();
        stream_.reset();
        return false;
      case Event::fail:
        error = stream_->error();
        stream_.reset();
        return false;
    }
    return false;
  }

  bool take_piece() {
    http::Pull pull = stream_->pull(room, *this);
    switch (pull.flow) {
      case core::Flow::data:
        body += bytes_of(pull.piece);
        return true;
      case core::Flow::wait:
        return false;
      case core::Flow::end:
        ended = true;
        if (pull.trailers != nullptr)
          for (const http::Field& field : *pull.trailers)
            trailers.push_back(std::string(field.name) + ": " + std::string(field.value));
        break;
      case core::Flow::fail:
        error = pull.error;
        break;
    }
    stream_.reset();
    return false;
  }

  std::unique_ptr<client::Stream> stream_;
  bool relaying_ = false;
};

struct ClientBench {
  core::Loop loop{core::Loop::Drive::by_hand};
  client::Connections connections{loop};
  std::shared_ptr<NotingDestination> destination = std::make_shared<NotingDestination>();
  http::Headers fields;

  ClientBench() { fields.add("host", "a.example"); }

  client::Request request(std::string_view method = "GET") {
    client::Request request;
    request.method = method;
    request.target = "/";
    request.fields = &fields;
    return request;
  }

  client::Request upload(http::BodySource& body, std::optional<std::uint64_t> length) {
    client::Request made = request("POST");
    made.framing = length ? http::Framing{http::Framing::Kind::length, *length}
                          : http::Framing{http::Framing::Kind::chunked, 0};
    made.body = &body;
    return made;
  }

  std::unique_ptr<client::Stream> open(MemoryPeer& peer) {
    return connections.open(destination, peer.transport());
  }
  std::size_t idle() { return connections.idle(*destination); }
};

}  // namespace portico::tests
