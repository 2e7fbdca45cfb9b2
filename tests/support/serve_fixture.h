// What the session tests stand on: a hand-driven loop, a server, a handler made of a function, a
// journal that remembers, and bodies that a test feeds. No port, no sleeping; one thread.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "proxy/core/text.h"
#include "proxy/serve/exchange.h"
#include "proxy/serve/handler.h"
#include "proxy/serve/root.h"
#include "proxy/serve/server.h"
#include "tests/support/memory_transport.h"

namespace portico::tests {

using StartFunction = std::function<std::unique_ptr<serve::Task>(serve::Exchange&)>;

class FunctionHandler final : public serve::Handler {
 public:
  explicit FunctionHandler(StartFunction start) : start_(std::move(start)) {}
  std::unique_ptr<serve::Task> start(serve::Exchange& exchange) const override {
    return start_(exchange);
  }

 private:
  StartFunction start_;
};

/// What the journal heard of one exchange.
struct Heard {
  std::string method;
  std::string target;
  serve::Trace trace;
};

class MemoryJournal final : public serve::Journal {
 public:
  void finished(const serve::Exchange& exchange) const override {
    heard.push_back({std::string(exchange.request().method), std::string(exchange.request().target),
                     exchange.trace()});
  }
  const Heard& last() const { return heard.back(); }

  mutable std::vector<Heard> heard;
};

/// A body that the test feeds while it is being pulled. The script outlives the body.
struct BodyScript {
  std::deque<std::string> parts;
  bool ended = false;
  core::Error failure;
  const http::Headers* trailers = nullptr;
  core::Wakeup reader;
  std::size_t pulls = 0;
  std::uint64_t pulled_bytes = 0;
  bool destroyed = false;

  void give(std::string part) {
    parts.push_back(std::move(part));
    reader.fire();
  }
  void end() {
    ended = true;
    reader.fire();
  }
  void fail(core::Error error) {
    failure = error;
    reader.fire();
  }
};

class ScriptedBody final : public http::BodySource {
 public:
  explicit ScriptedBody(BodyScript& script) : script_(script) {}
  ~ScriptedBody() override { script_.destroyed = true; }

  http::Pull pull(std::size_t room, core::Active& reader) override {
    ++script_.pulls;
    if (!script_.parts.empty()) return data(room);
    if (script_.failure.fault != core::Fault::none)
      return {core::Flow::fail, {}, nullptr, script_.failure};
    if (script_.ended) return {core::Flow::end, {}, script_.trailers, {}};
    script_.reader.aim(reader);
    return {};
  }

 private:
  http::Pull data(std::size_t room) {
    std::string& front = script_.parts.front();
    const std::string part = front.substr(0, room);
    front.erase(0, part.size());
    if (front.empty()) script_.parts.pop_front();
    script_.pulled_bytes += part.size();
    return {core::Flow::data, core::Slice::copy(part), nullptr, {}};
  }

  BodyScript& script_;
};

/// The request's body as an answer's: a relay without an endpoint.
class RequestAsBody final : public http::BodySource {
 public:
  explicit RequestAsBody(http::BodySource& from) : from_(from) {}
  http::Pull pull(std::size_t room, core::Active& reader) override {
    return from_.pull(room, reader);
  }

 private:
  http::BodySource& from_;
};

/// Reads the whole body, then answers with it; or fails as the body fails.
class EchoTask final : public serve::Task, public core::Active {
 public:
  explicit EchoTask(serve::Exchange& exchange)
      : core::Active(exchange.loop()), exchange_(exchange) {
    wake();
  }

  void advance() override {
    for (;;) {
      http::Pull pulled = exchange_.request_body().pull(7000, *this);
      if (pulled.flow == core::Flow::wait) return;
      if (pulled.flow == core::Flow::fail) return exchange_.fail(pulled.error);
      if (pulled.flow == core::Flow::end) return answer();
      text_ += std::get<core::Slice>(pulled.piece).view();
    }
  }

 private:
  void answer() {
    exchange_.respond({}, std::make_unique<http::ReadyBody>(core::Slice::copy(text_)));
  }

  serve::Exchange& exchange_;
  std::string text_;
};

inline void answer_with(serve::Exchange& exchange, std::string_view text, int status = 200) {
  http::ResponseHead head;
  head.status = status;
  head.length = text.size();
  exchange.respond(std::move(head), std::make_unique<http::ReadyBody>(core::Slice::copy(text)));
}

/// Answers "method target".
inline std::unique_ptr<serve::Task> answer_target(serve::Exchange& exchange) {
  answer_with(exchange, std::string(exchange.request().method) + " " +
                            std::string(exchange.request().target));
  return nullptr;
}

inline std::unique_ptr<serve::Task> echo(serve::Exchange& exchange) {
  return std::make_unique<EchoTask>(exchange);
}

class ServeFixture {
 public:
  ServeFixture() { use(answer_target); }

  /// New exchanges are started by this.
  void use(StartFunction start) {
    root.handler = std::make_shared<FunctionHandler>(std::move(start));
    root.journal = &journal;
    renew();
  }
  void renew() { server.serve_with(std::make_shared<serve::Root>(root)); }  ///< after a change

  /// A new client; the server's session reads what it sends.
  std::unique_ptr<MemoryPeer> connect() {
    auto peer = std::make_unique<MemoryPeer>();
    server.adopt(peer->transport(), {});
    loop.turn();
    return peer;
  }
  /// Sends bytes and returns all that came back in that turn.
  std::string ask(MemoryPeer& peer, std::string_view bytes) {
    peer.arrive(bytes);
    loop.turn();
    return peer.take_sent();
  }
  std::string ask(std::string_view bytes) {
    auto peer = connect();
    return ask(*peer, bytes);
  }

  core::Loop loop{core::Loop::Drive::by_hand};
  MemoryJournal journal;
  serve::Root root;
  serve::Server server{loop, std::make_shared<serve::Root>(),
                       std::make_shared<serve::ConnectionCounts>()};
};

/// The body of the answer in `text`, whose head ends with an empty line.
inline std::string body_of(const std::string& text) {
  const auto at = text.find("\r\n\r\n");
  return at == std::string::npos ? std::string() : text.substr(at + 4);
}
inline std::string status_of(const std::string& text) {
  return text.size() < 12 ? std::string() : text.substr(9, 3);
}
/// Whether the head of the (first) answer has this line, but for case.
inline bool has_line(const std::string& text, std::string_view line) {
  const std::string head = core::lower_copy(text.substr(0, text.find("\r\n\r\n") + 2));
  return head.find("\r\n" + core::lower_copy(line) + "\r\n") != std::string::npos;
}
inline bool has_field(const std::string& text, std::string_view name) {
  const std::string head = core::lower_copy(text.substr(0, text.find("\r\n\r\n") + 2));
  return head.find("\r\n" + core::lower_copy(name) + ":") != std::string::npos;
}
inline std::size_t count(const std::string& text, std::string_view what) {
  std::size_t found = 0;
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + what.size()))
    ++found;
  return found;
}

/// Undoes the chunked coding of a complete body; trailers are left out. "?" when it is not whole.
inline std::string unchunked(std::string_view text) {
  std::string out;
  for (;;) {
    const auto line = text.find("\r\n");
    if (line == std::string_view::npos) return "?";
    const std::size_t size = std::stoul(std::string(text.substr(0, line)), nullptr, 16);
    if (size == 0) return text.ends_with("\r\n\r\n") ? out : "?";
    if (text.size() < line + 2 + size + 2) return "?";
    out += text.substr(line + 2, size);
    text.remove_prefix(line + 2 + size + 2);
  }
}

}  // namespace portico::tests
