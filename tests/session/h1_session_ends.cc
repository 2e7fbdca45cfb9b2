// H1Session: half-close, resets, drain, abort, destroying at any moment, tunnels.
#include <catch2/catch.hpp>

#include <string>

#include "tests/support/serve_fixture.h"

namespace portico::tests {
namespace {

using core::Fault;
using std::chrono::seconds;

const std::string get = "GET /a HTTP/1.1\r\nHost: x\r\n\r\n";

// What a task saw of its life.
struct TaskLife {
  bool alive = false;
  int client_finished = 0;
};

class WatchedTask final : public serve::Task {
 public:
  explicit WatchedTask(TaskLife& life) : life_(life) { life_.alive = true; }
  ~WatchedTask() override { life_.alive = false; }
  void client_finished() override { ++life_.client_finished; }

 private:
  TaskLife& life_;
};

// What outlives the fixture's tasks.
struct Life {
  TaskLife life;
};

struct Waiting : Life, ServeFixture {
  Waiting() {
    use([this](serve::Exchange& started) -> std::unique_ptr<serve::Task> {
      exchange = &started;
      return std::make_unique<WatchedTask>(life);
    });
  }
  serve::Exchange* exchange = nullptr;
};

TEST_CASE("a client that ends its side is still answered, and its task is told once") {
  Waiting waiting;
  auto peer = waiting.connect();
  peer->arrive(get);
  peer->peer_ends();
  waiting.loop.turn();
  CHECK(waiting.life.client_finished == 1);
  waiting.loop.pass(seconds(1));
  CHECK(waiting.life.client_finished == 1);
  answer_with(*waiting.exchange, "late");
  waiting.loop.turn();
  const std::string answer = peer->take_sent();
  CHECK(body_of(answer) == "late");
  CHECK(has_line(answer, "connection: close"));
  CHECK(peer->closed());
  CHECK_FALSE(waiting.life.alive);
  CHECK(waiting.journal.last().trace.error.fault == Fault::none);
}

TEST_CASE("pipelined requests before the client's end are all answered") {
  ServeFixture fixture;
  auto peer = fixture.connect();
  peer->arrive(get + get + get);
  peer->peer_ends();
  fixture.loop.turn();
  CHECK(count(peer->take_sent(), "HTTP/1.1 200") == 3);
  CHECK(peer->closed());
}

TEST_CASE("a reset destroys the task at once, with the cause client_gone") {
  Waiting waiting;
  auto peer = waiting.connect();
  waiting.ask(*peer, get);
  CHECK(waiting.life.alive);
  peer->peer_resets();
  waiting.loop.turn();
  CHECK_FALSE(waiting.life.alive);
  CHECK(peer->closed());
  REQUIRE(waiting.journal.heard.size() == 1);
  CHECK(waiting.journal.last().trace.error.fault == Fault::client_gone);
  CHECK(waiting.journal.last().trace.status == 0);
  CHECK(waiting.server.counters().exchanges == 0);
}

TEST_CASE("a client that leaves within a head or a body") {
  ServeFixture fixture;
  fixture.use(echo);
  auto in_head = fixture.connect();
  in_head->arrive("GET / HT");
  in_head->peer_ends();
  fixture.loop.turn();
  CHECK(in_head->closed());
  CHECK(fixture.journal.last().trace.error.fault == Fault::client_gone);

  auto in_body = fixture.connect();
  in_body->arrive("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nabc");
  in_body->peer_ends();
  fixture.loop.turn();
  CHECK(in_body->closed());
  CHECK(in_body->sent().empty());
  CHECK(fixture.journal.last().trace.error.fault == Fault::client_gone);
  CHECK(fixture.journal.heard.size() == 2);

  auto idle = fixture.connect();
  idle->peer_ends();
  fixture.loop.turn();
  CHECK(idle->closed());
  CHECK(fixture.journal.heard.size() == 2);
}

TEST_CASE("drain: idle connections close, what runs is answered with Connection: close") {
  Waiting waiting;
  class Owner final : public core::Active {
   public:
    using core::Active::Active;
    void advance() override { ++woken; }
    int woken = 0;
  } owner(waiting.loop);

  auto idle = waiting.connect();
  auto busy = waiting.connect();
  waiting.ask(*busy, get);
  waiting.server.drain(waiting.loop.now() + seconds(10), owner);
  waiting.loop.turn();
  CHECK(idle->closed());
  CHECK_FALSE(busy->closed());
  CHECK_FALSE(waiting.server.drained());
  CHECK(owner.woken == 0);
  answer_with(*waiting.exchange, "bye");
  waiting.loop.turn();
  CHECK(has_line(busy->take_sent(), "connection: close"));
  CHECK(busy->send_ended());  // and lingers: the client may just be sending its next request
  CHECK(waiting.server.drained());
  CHECK(owner.woken == 1);
}

TEST_CASE("drain: a request that had arrived is still served, what runs at the deadline is cut") {
  Waiting waiting;
  class Owner final : public core::Active {
   public:
    using core::Active::Active;
    void advance() override { ++woken; }
    int woken = 0;
  } owner(waiting.loop);
  auto late = waiting.connect();
  auto stuck = waiting.connect();
  waiting.ask(*stuck, get);
  late->arrive(get);
  waiting.server.drain(waiting.loop.now() + seconds(10), owner);
  waiting.loop.turn();
  CHECK_FALSE(late->closed());
  answer_with(*waiting.exchange, "served");
  waiting.loop.turn();
  CHECK(body_of(late->take_sent()) == "served");
  waiting.loop.pass(seconds(9));
  CHECK_FALSE(stuck->closed());
  waiting.loop.pass(seconds(1));
  CHECK(stuck->closed_by_reset());
  CHECK(waiting.server.drained());
  CHECK(owner.woken == 1);
  CHECK(waiting.journal.last().trace.error.fault == Fault::shutting_down);
}

TEST_CASE("drain with nothing open is done at once") {
  ServeFixture fixture;
  class Owner final : public core::Active {
   public:
    using core::Active::Active;
    void advance() override { ++woken; }
    int woken = 0;
  } owner(fixture.loop);
  fixture.server.drain(fixture.loop.now() + seconds(1), owner);
  fixture.loop.turn();
  CHECK(owner.woken == 1);
}

// Everything that can be under way, ended by destroying the server after `bytes` bytes.
void destroy_after(const std::string& request, std::size_t bytes) {
  MemoryJournal journal;
  MemoryPeer peer;
  BodyScript script;
  TaskLife life;
  core::Loop loop(core::Loop::Drive::by_hand);
  {
    serve::Root root;
    root.journal = &journal;
    root.handler = std::make_shared<FunctionHandler>(
        [&](serve::Exchange& exchange) -> std::unique_ptr<serve::Task> {
          if (exchange.request().target == "/echo") return echo(exchange);
          exchange.respond({}, std::make_unique<ScriptedBody>(script));
          return std::make_unique<WatchedTask>(life);
        });
    serve::Server server(loop, std::make_shared<serve::Root>(root),
                         std::make_shared<serve::ConnectionCounts>());
    server.adopt(peer.transport(), {});
    peer.arrive(std::string_view(request).substr(0, bytes));
    loop.turn();
  }
  loop.turn();
  CHECK(peer.closed());
  CHECK_FALSE(life.alive);
  CHECK(journal.heard.size() <= 2);
}

TEST_CASE("destroying the server at any moment ends everything, once") {
  const std::string request =
      "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
      "3\r\nabc\r\n0\r\n\r\n" +
      get;
  for (std::size_t bytes = 0; bytes <= request.size(); ++bytes) destroy_after(request, bytes);
}

TEST_CASE("the client's reset at any moment ends everything, once") {
  const std::string request =
      "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc" + get;
  for (std::size_t bytes = 0; bytes <= request.size(); ++bytes) {
    Waiting waiting;
    waiting.use([&waiting](serve::Exchange& exchange) -> std::unique_ptr<serve::Task> {
      if (exchange.request().target == "/echo") return echo(exchange);
      return std::make_unique<WatchedTask>(waiting.life);
    });
    auto peer = waiting.connect();
    waiting.ask(*peer, request.substr(0, bytes));
    peer->peer_resets();
    waiting.loop.turn();
    CHECK(peer->closed());
    CHECK_FALSE(waiting.life.alive);
    CHECK(waiting.server.counters().open == 0);
    CHECK(waiting.server.counters().exchanges == 0);
  }
}

struct Tunnelled : Life, ServeFixture {
  Tunnelled() {
    use([this](serve::Exchange& exchange) -> std::unique_ptr<serve::Task> {
      http::ResponseHead head;
      head.status = 101;
      head.fields.add("Upgrade", "websocket");
      exchange.tunnel(std::move(head), peer.transport());
      return std::make_unique<WatchedTask>(life);
    });
    client = connect();
  }
  const std::string upgrade =
      "GET /ws HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n";
  MemoryPeer peer;
  std::unique_ptr<MemoryPeer> client;
};

TEST_CASE("a tunnel passes bytes both ways after the 101, those sent before it too") {
  Tunnelled tunnel;
  const std::string head = tunnel.ask(*tunnel.client, tunnel.upgrade + "early");
  CHECK(head.starts_with("HTTP/1.1 101 Switching Protocols\r\n"));
  CHECK(has_line(head, "upgrade: websocket"));
  CHECK(has_line(head, "connection: upgrade"));
  CHECK_FALSE(has_field(head, "content-length"));
  CHECK(tunnel.peer.take_sent() == "early");
  CHECK(tunnel.ask(*tunnel.client, "up").empty());
  CHECK(tunnel.peer.take_sent() == "up");
  tunnel.peer.arrive("down");
  tunnel.loop.turn();
  CHECK(tunnel.client->take_sent() == "down");
  CHECK(tunnel.life.alive);
  CHECK(tunnel.journal.heard.empty());
}

TEST_CASE("a tunnel passes a half-close on, and ends with the second") {
  Tunnelled tunnel;
  tunnel.ask(*tunnel.client, tunnel.upgrade);
  tunnel.client->arrive("last");
  tunnel.client->peer_ends();
  tunnel.loop.turn();
  CHECK(tunnel.peer.take_sent() == "last");
  CHECK(tunnel.peer.send_ended());
  tunnel.peer.arrive("answer");
  tunnel.loop.turn();
  CHECK(tunnel.client->take_sent() == "answer");
  CHECK_FALSE(tunnel.client->closed());
  tunnel.peer.peer_ends();
  tunnel.loop.turn();
  CHECK(tunnel.client->closed());
  CHECK(tunnel.peer.closed());
  CHECK_FALSE(tunnel.life.alive);
  REQUIRE(tunnel.journal.heard.size() == 1);
  CHECK(tunnel.journal.last().trace.status == 101);
  CHECK(tunnel.journal.last().trace.request_bytes == 4);
  CHECK(tunnel.journal.last().trace.response_bytes == 6);
}

TEST_CASE("a tunnel reads no more than the other side takes") {
  Tunnelled tunnel;
  tunnel.ask(*tunnel.client, tunnel.upgrade);
  tunnel.peer.limit_room(100);
  tunnel.ask(*tunnel.client, std::string(1 << 20, 'x'));
  CHECK(tunnel.client->unread() > (1 << 20) - 256 * 1024);
  tunnel.peer.make_room(unlimited);
  tunnel.loop.turn();
  CHECK(tunnel.client->unread() == 0);
  CHECK(tunnel.peer.take_sent().size() == 1 << 20);
}

TEST_CASE("a tunnel in which nothing moves is closed, and one that is broken") {
  Tunnelled tunnel;
  tunnel.ask(*tunnel.client, tunnel.upgrade);
  tunnel.loop.pass(std::chrono::minutes(9));
  tunnel.ask(*tunnel.client, "x");
  tunnel.loop.pass(std::chrono::minutes(9));
  CHECK_FALSE(tunnel.client->closed());
  tunnel.loop.pass(std::chrono::minutes(1));
  CHECK(tunnel.client->closed());
  CHECK(tunnel.peer.closed());

  Tunnelled broken;
  broken.ask(*broken.client, broken.upgrade);
  broken.peer.peer_resets();
  broken.loop.turn();
  CHECK(broken.client->closed());
  CHECK(broken.journal.heard.size() == 1);
}

TEST_CASE("a tunnel loses no byte under 1-byte reads and writes") {
  Tunnelled tunnel;
  tunnel.client->be_stingy();
  tunnel.peer.be_stingy();
  std::string up;
  for (int at = 0; at < 3000; ++at) up += static_cast<char>('a' + at % 26);
  tunnel.peer.arrive(up);
  tunnel.ask(*tunnel.client, tunnel.upgrade + up);
  CHECK(tunnel.peer.take_sent() == up);
}

TEST_CASE("no tunnel while a body is unread: raw bytes would be taken for it") {
  Tunnelled tunnel;
  const std::string answer =
      tunnel.ask(*tunnel.client,
                 "GET /ws HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nConnection: upgrade\r\n"
                 "Upgrade: websocket\r\n\r\n");
  CHECK(status_of(answer) != "101");
  CHECK(tunnel.journal.last().trace.error.fault == Fault::upgrade_refused);
}

}  // namespace
}  // namespace portico::tests
