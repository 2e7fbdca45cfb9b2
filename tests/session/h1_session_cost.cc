// H1Session: what an idle connection and a kept-alive request cost: bytes, allocations, calls.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <new>
#include <string>

#include "proxy/net/tcp.h"
#include "proxy/serve/h1_session.h"
#include "tests/support/serve_fixture.h"

namespace {

std::size_t allocations = 0;
std::size_t allocated_bytes = 0;

void* counted(std::size_t size) {
  ++allocations;
  allocated_bytes += size;
  void* memory = std::malloc(size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(std::size_t size) { return counted(size); }
void* operator new[](std::size_t size) { return counted(size); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return std::malloc(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

namespace portico::tests {
namespace {

const std::string get =
    "GET /a HTTP/1.1\r\nHost: x.example\r\nUser-Agent: a\r\nAccept: */*\r\n\r\n";

// A transport that costs nothing itself: one request again and again, answers thrown away.
class LoopTransport final : public net::Transport {
 public:
  void attach(core::Active* owner) override { owner_ = owner; }
  net::Arrival read(std::size_t room, net::Splice) override {
    if (requests == 0) return {};
    --requests;
    ++reads;
    core::Buffer& into = buffer_;
    if (into.room_bytes() < get.size()) into = core::Buffer(core::block_bytes);
    into.append(std::string_view(get).substr(0, room));
    return {core::Flow::data, into.take(), {}};
  }
  void send(core::Piece&& piece) override { unsent_ += core::length(piece); }
  core::Flow flush() override {
    ++flushes;
    sent_ += std::exchange(unsent_, 0);
    return core::Flow::end;
  }
  std::uint64_t unsent() const override { return unsent_; }
  std::uint64_t sent() const override { return sent_; }
  const core::Error& send_error() const override { return error_; }
  void finish_sending() override {}
  void reset_on_close() override {}
  bool broken() const override { return false; }

  std::size_t requests = 0;
  std::size_t reads = 0;
  std::size_t flushes = 0;
  void go() { owner_->wake(); }

 private:
  core::Active* owner_ = nullptr;
  core::Buffer buffer_{core::block_bytes};
  std::uint64_t unsent_ = 0;
  std::uint64_t sent_ = 0;
  core::Error error_;
};

TEST_CASE("an idle connection costs less than 1 KB with its transport") {
  WARN("session " << sizeof(serve::H1Session) << " + transport " << sizeof(net::SocketTransport)
                  << ", exchange " << sizeof(serve::H1Exchange) << " bytes");
  CHECK(sizeof(serve::H1Session) + sizeof(net::SocketTransport) < 1024);
}

TEST_CASE("a kept-alive request costs one read, one flush and few allocations") {
  ServeFixture fixture;
  fixture.root.journal = nullptr;
  fixture.use([](serve::Exchange& exchange) -> std::unique_ptr<serve::Task> {
    http::ResponseHead head;
    head.fields.add("Content-Type", "text/plain");
    head.length = 5;
    exchange.respond(std::move(head),
                     std::make_unique<http::ReadyBody>(core::Slice::literal("hello")));
    return nullptr;
  });
  fixture.root.journal = nullptr;
  fixture.renew();
  auto owned = std::make_unique<LoopTransport>();
  LoopTransport& transport = *owned;
  fixture.server.adopt(std::move(owned), {});
  fixture.loop.turn();
  const auto serve_requests = [&](std::size_t count) {
    for (std::size_t at = 0; at < count; ++at) {
      transport.requests = 1;
      transport.go();
      fixture.loop.turn();
    }
  };
  serve_requests(100);  // warm
  const std::size_t before = allocations;
  const std::size_t bytes_before = allocated_bytes;
  const std::size_t flushes_before = transport.flushes;
  serve_requests(1000);
  const double each = static_cast<double>(allocations - before) / 1000;
  WARN(each << " allocations by operator new, "
            << static_cast<double>(allocated_bytes - bytes_before) / 1000 << " bytes a request");
  CHECK(each <= 8);  // of these the handler's: a field list and a body
  CHECK(transport.flushes - flushes_before == 1000);
  CHECK(fixture.server.counters().served == 1100);
}

TEST_CASE("10,000 pipelined requests take no more memory than a few") {
  ServeFixture fixture;
  fixture.root.journal = nullptr;
  fixture.use([](serve::Exchange& exchange) -> std::unique_ptr<serve::Task> {
    answer_with(exchange, "x");
    return nullptr;
  });
  auto owned = std::make_unique<LoopTransport>();
  LoopTransport& transport = *owned;
  fixture.root.journal = nullptr;
  fixture.renew();
  fixture.server.adopt(std::move(owned), {});
  transport.requests = 10000;
  transport.go();
  fixture.loop.turn();
  CHECK(fixture.server.counters().served == 10000);
  CHECK(fixture.server.counters().exchanges == 0);
}

}  // namespace
}  // namespace portico::tests
