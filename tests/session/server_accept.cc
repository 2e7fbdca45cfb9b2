// Server: accepting on real sockets (loopback, port 0; Unix), caps, and descriptors running out.
#include <sys/resource.h>

#include <array>
#include <catch2/catch.hpp>
#include <string>

#include "tests/support/run_loop.h"
#include "tests/support/serve_fixture.h"
#include "tests/support/sockets.h"

namespace portico::tests {
namespace {

const std::string get = "GET /a HTTP/1.1\r\nHost: x\r\n\r\n";

/// A client in the server's own thread: never waits.
struct Client {
  explicit Client(const net::Address& address) : fd(connect_to(address)) {}

  void say(std::string_view text) {
    REQUIRE(::send(fd.get(), text.data(), text.size(), MSG_NOSIGNAL) ==
            static_cast<ssize_t>(text.size()));
  }
  /// Takes what has arrived.
  void listen() {
    std::array<char, 4096> bytes;
    ssize_t got = 0;
    while ((got = ::recv(fd.get(), bytes.data(), bytes.size(), MSG_DONTWAIT)) > 0)
      heard.append(bytes.data(), static_cast<std::size_t>(got));
    ended = ended || got == 0 || (got < 0 && errno != EAGAIN);
  }
  bool answered() {
    listen();
    return heard.find("\r\n\r\n") != std::string::npos;
  }
  bool closed() {
    listen();
    return ended;
  }

  core::Fd fd;
  std::string heard;
  bool ended = false;
};

class Accepting {
 public:
  Accepting() {
    root.handler = std::make_shared<FunctionHandler>([this](serve::Exchange& exchange) {
      last_client = exchange.connection().client;
      last_listener = std::string(exchange.connection().listener);
      if (exchange.request().target == "/wait") return std::unique_ptr<serve::Task>();
      return answer_target(exchange);
    });
    renew();
    core::Fd listening = std::move(*net::listen_on(loopback()));
    address = net::local_address(listening.get());
    server.listen(std::move(listening), "127.0.0.1:0");
  }
  void renew() { server.serve_with(std::make_shared<serve::Root>(root)); }

  /// Turns the loop until this is true; false: it never became so.
  bool until(const std::function<bool()>& condition) {
    std::unique_ptr<Agent> agent;
    agent = std::make_unique<Agent>(loop, [&] {
      if (condition()) {
        loop.stop();
      } else {
        agent->wake();
      }
    });
    agent->wake();
    return run_loop(loop);
  }
  std::uint64_t open() const { return server.counters().open; }

  core::Loop loop;
  serve::Root root;
  std::shared_ptr<serve::ConnectionCounts> counts = std::make_shared<serve::ConnectionCounts>();
  serve::Server server{loop, std::make_shared<serve::Root>(), counts};
  net::Address address;
  net::Address last_client;
  std::string last_listener;
};

TEST_CASE("clients are accepted and answered over TCP") {
  Accepting accepting;
  std::vector<Client> clients;
  for (int count = 0; count < 150; ++count) {
    clients.emplace_back(accepting.address);
    clients.back().say(get);
  }
  for (Client& client : clients) CHECK(accepting.until([&] { return client.answered(); }));
  CHECK(accepting.open() == 150);
  CHECK(accepting.last_listener == "127.0.0.1:0");
  CHECK(accepting.last_client.host_text() == "127.0.0.1");
  clients.clear();
  CHECK(accepting.until([&] { return accepting.open() == 0; }));
  CHECK(accepting.counts->total() == 0);
}

TEST_CASE("a Unix listener serves, and its clients are not counted one by one") {
  Accepting accepting;
  accepting.root.connections.per_client = 1;
  accepting.renew();
  const ScratchDirectory scratch;
  const net::Address address = net::Address::local(scratch.file("s"));
  accepting.server.listen(std::move(*net::listen_on(address)), "unix:s");
  std::vector<Client> clients;
  for (int count = 0; count < 3; ++count) {
    clients.emplace_back(address);
    clients.back().say(get);
  }
  for (Client& client : clients) {
    CHECK(accepting.until([&] { return client.answered(); }));
    CHECK(status_of(client.heard) == "200");
  }
  CHECK(accepting.last_listener == "unix:s");
}

TEST_CASE("a client above its cap is answered 503, and again admitted when it has closed one") {
  Accepting accepting;
  accepting.root.connections.per_client = 2;
  accepting.renew();
  Client first(accepting.address);
  Client second(accepting.address);
  CHECK(accepting.until([&] { return accepting.open() == 2; }));
  Client third(accepting.address);
  CHECK(accepting.until([&] { return third.closed(); }));
  CHECK(status_of(third.heard) == "503");
  CHECK(has_line(third.heard, "connection: close"));
  const std::string body = body_of(third.heard);
  CHECK(has_line(third.heard, "content-length: " + std::to_string(body.size())));
  CHECK(accepting.server.counters().refused == 1);
  second.fd.reset();
  CHECK(accepting.until([&] { return accepting.open() == 1; }));
  Client fourth(accepting.address);
  fourth.say(get);
  CHECK(accepting.until([&] { return fourth.answered(); }));
  CHECK(status_of(fourth.heard) == "200");
}

TEST_CASE("trusted networks have no cap of their own") {
  Accepting accepting;
  accepting.root.connections.per_client = 1;
  accepting.root.uncounted.push_back(*net::Network::parse("127.0.0.0/8"));
  accepting.renew();
  Client first(accepting.address);
  Client second(accepting.address);
  CHECK(accepting.until([&] { return accepting.open() == 2; }));
  accepting.root.uncounted.clear();  // those who were let in are counted out as they came
  accepting.renew();
  first.fd.reset();
  second.fd.reset();
  CHECK(accepting.until([&] { return accepting.counts->total() == 0; }));
}

TEST_CASE("above 80 % of the cap the least recently used idle connection gives way") {
  Accepting accepting;
  accepting.root.connections.total = 10;
  accepting.renew();
  std::vector<Client> clients;
  for (std::uint64_t count = 0; count < 9; ++count) {
    clients.emplace_back(accepting.address);
    clients.back().say(get);
    CHECK(accepting.until([&] { return clients.back().answered(); }));
  }
  clients[0].heard.clear();
  clients[0].say(get);  // now the second is the one unused for longest
  CHECK(accepting.until([&] { return clients[0].answered(); }));
  Client late(accepting.address);
  late.say(get);
  CHECK(accepting.until([&] { return late.answered() && clients[1].closed(); }));
  CHECK(status_of(late.heard) == "200");
  CHECK_FALSE(clients[0].closed());
  CHECK_FALSE(clients[2].closed());
}

TEST_CASE("at the cap, with nothing idle, clients are answered 503") {
  Accepting accepting;
  accepting.root.connections.total = 3;
  accepting.renew();
  std::vector<Client> clients;
  for (std::uint64_t count = 1; count <= 3; ++count) {
    clients.emplace_back(accepting.address);
    clients.back().say("GET /wait HTTP/1.1\r\nHost: x\r\n\r\n");
    CHECK(accepting.until([&] { return accepting.server.counters().exchanges == count; }));
  }
  Client late(accepting.address);
  CHECK(accepting.until([&] { return late.closed(); }));
  CHECK(status_of(late.heard) == "503");
}

/// Leaves the process so many free descriptors; undone at the end.
class FewDescriptors {
 public:
  explicit FewDescriptors(unsigned left) {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    core::Fd next(::dup(0));
    rlimit few = before_;
    few.rlim_cur = static_cast<rlim_t>(next.get()) + left;
    ::setrlimit(RLIMIT_NOFILE, &few);
  }
  FewDescriptors(const FewDescriptors&) = delete;
  FewDescriptors& operator=(const FewDescriptors&) = delete;
  ~FewDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

TEST_CASE("descriptors run out: accepting pauses, the reserve answers 503, nothing spins") {
  Accepting accepting;
  std::vector<Client> clients;
  for (int count = 0; count < 9; ++count) clients.emplace_back(accepting.address);
  for (Client& client : clients) client.say(get);
  const FewDescriptors few(2);
  CHECK(accepting.until([&] { return accepting.server.counters().pauses == 1; }));
  CHECK(accepting.open() == 2);
  CHECK(accepting.until([&] { return clients[1].answered() && clients[2].answered(); }));
  CHECK(status_of(clients[1].heard) == "200");
  CHECK(status_of(clients[2].heard) == "503");
  clients[0].fd.reset();  // one ends: accepting goes on at once (and has its descriptor again)
  CHECK(accepting.until([&] { return clients[3].answered(); }));
  CHECK(status_of(clients[3].heard) == "200");
  // Nothing ends: a try each 100 ms, no more.
  const auto begun = core::Clock::now();
  CHECK(accepting.until([&] { return clients[8].answered(); }));
  CHECK(status_of(clients[8].heard) == "503");
  const auto tries = static_cast<std::int64_t>(accepting.server.counters().pauses.load());
  CHECK(tries <= 4 + (core::Clock::now() - begun) / std::chrono::milliseconds(90));
}

TEST_CASE("closing a listener leaves its sessions alone") {
  Accepting accepting;
  Client client(accepting.address);
  client.say(get);
  CHECK(accepting.until([&] { return client.answered(); }));
  accepting.server.close_listener("127.0.0.1:0");
  CHECK(accepting.until([] { return true; }));
  CHECK_FALSE(Client(accepting.address).fd);
  client.heard.clear();
  client.say(get);
  CHECK(accepting.until([&] { return client.answered(); }));
}

TEST_CASE("a drained server has closed everything") {
  Accepting accepting;
  Client idle(accepting.address);
  Client busy(accepting.address);
  idle.say(get);
  busy.say("GET /wait HTTP/1.1\r\nHost: x\r\n\r\n");
  CHECK(accepting.until(
      [&] { return idle.answered() && accepting.server.counters().exchanges == 1; }));
  Agent owner(accepting.loop, [&] { accepting.loop.stop(); });
  accepting.server.drain(core::Clock::now() + std::chrono::milliseconds(50), owner);
  CHECK(run_loop(accepting.loop));
  CHECK(accepting.server.drained());
  CHECK(idle.closed());
  CHECK(busy.closed());
}

TEST_CASE("bytes of a refused request do not turn the answer into a reset") {
  Accepting accepting;
  Client client(accepting.address);
  client.say("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9999999\r\n\r\n" +
             std::string(20000, 'x'));
  CHECK(accepting.until([&] { return client.closed(); }));
  CHECK(status_of(client.heard) == "200");
  CHECK(has_line(client.heard, "connection: close"));
}

}  // namespace
}  // namespace portico::tests
