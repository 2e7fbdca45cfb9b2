// Fuzzes a whole H1Session: arbitrary client bytes, in small steps, against handlers that echo,
// stream, fail, ignore the body or open a tunnel.
//
// The first byte chooses how the transport behaves. Checked: nothing is left over when the client
// has gone, every exchange is reported, and whatever is answered begins like an answer.
#include <cstddef>
#include <cstdint>
#include <string>

#include "tests/fuzz/must.h"
#include "tests/support/serve_fixture.h"

namespace portico::tests {
namespace {

using fuzz::must;

std::unique_ptr<serve::Task> choose(serve::Exchange& exchange, MemoryPeer& peer) {
  const std::string& host = exchange.request().where.host;
  if (host == "e") return echo(exchange);
  if (host == "f") exchange.fail({core::Fault::no_route, 0, "routing"});
  if (host == "s") {
    exchange.respond({}, std::make_unique<RequestAsBody>(exchange.request_body()));
    return nullptr;
  }
  if (host == "t") {
    http::ResponseHead head;
    head.status = 101;
    head.fields.add("Upgrade", "websocket");
    exchange.tunnel(std::move(head), peer.transport());
    return nullptr;
  }
  return answer_target(exchange);
}

// What was sent before a cut may be a part of a status line.
bool begins_like_an_answer(const std::string& sent) {
  constexpr std::string_view version = "HTTP/1.1 ";
  return version.starts_with(std::string_view(sent).substr(0, version.size()));
}

void converse(std::string_view bytes, unsigned manner) {
  MemoryPeer peer;
  ServeFixture fixture;
  fixture.use([&peer](serve::Exchange& exchange) { return choose(exchange, peer); });
  auto client = fixture.connect();
  if ((manner & 1) != 0) client->be_stingy(1 + manner / 16);
  const std::size_t half = (manner & 2) != 0 ? bytes.size() / 2 : bytes.size();
  client->arrive(bytes.substr(0, half));
  fixture.loop.turn();
  client->arrive(bytes.substr(half));
  fixture.loop.turn();
  if ((manner & 4) != 0) client->peer_resets();
  if ((manner & 8) != 0) client->peer_ends();
  fixture.loop.turn();
  must(begins_like_an_answer(client->sent()));
  for (int minute = 0; minute < 15; ++minute) fixture.loop.pass(std::chrono::minutes(1));
  must(client->closed());
  must(fixture.server.counters().open == 0);
  must(fixture.server.counters().exchanges == 0);
  must(fixture.journal.heard.size() <= fixture.server.counters().served);
}

}  // namespace
}  // namespace portico::tests

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  portico::tests::converse(text.substr(1), data[0]);
  return 0;
}
