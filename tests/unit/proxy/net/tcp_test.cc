#include "proxy/net/tcp.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <csignal>

#include "tests/support/run_loop.h"
#include "tests/support/sockets.h"
#include "tests/unit/proxy/net/syscalls.h"

namespace portico::net {
namespace {

using core::Fault;
using core::Fd;
using core::Flow;
using core::Slice;
using tests::Agent;
using tests::run_loop;
using tests::syscalls;
using namespace std::chrono_literals;

/// A transport under test, its far end as a plain descriptor, and an owner that does `act`.
struct Fixture {
  explicit Fixture(
      tests::FdPair pair, std::function<void()> act = [] {})
      : near(loop, std::move(pair.first)),
        far(std::move(pair.second)),
        owner(loop, std::move(act)) {
    ::signal(SIGPIPE, SIG_IGN);
  }
  void far_sends(std::string_view bytes) const {
    REQUIRE(::send(far.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
            static_cast<ssize_t>(bytes.size()));
  }
  std::string far_reads() const {
    tests::wait_readable(far.get());
    std::string bytes(1 << 20, '\0');
    const ssize_t got = ::read(far.get(), bytes.data(), bytes.size());
    bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return bytes;
  }
  void far_resets() {
    const linger reset{1, 0};
    ::setsockopt(far.get(), SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
    far.reset();
  }
  /// How often the owner is woken while nobody does anything about it.
  int wakes_in(core::Duration time) {
    owner.runs = 0;
    run_loop(loop, time);
    return owner.runs;
  }

  core::Loop loop;
  SocketTransport near;
  Fd far;
  Agent owner;
};

std::string text(const Arrival& arrival) {
  const auto* slice = std::get_if<Slice>(&arrival.piece);
  return arrival.flow == Flow::data && slice != nullptr ? std::string(slice->view()) : "";
}

}  // namespace

TEST_CASE("tcp: a transport is small and owns no block while idle") {
  CHECK(sizeof(SocketTransport) < 300);
}

TEST_CASE("tcp: the first read asks at once, without an event") {
  Fixture f(tests::tcp_pair());
  f.far_sends("early");
  tests::wait_readable(f.near.descriptor());
  CHECK(text(f.near.read(100)) == "early");
  CHECK(f.near.read(100).flow == Flow::wait);
}

TEST_CASE("tcp: where the first word is ours, reading waits for an event") {
  auto [near, far] = tests::tcp_pair();
  core::Loop loop;
  SocketTransport transport(loop, std::move(near), FirstWord::ours);
  Agent owner(loop, [&] { loop.stop(); });
  transport.attach(&owner);
  syscalls = {};
  CHECK(transport.read(100).flow == Flow::wait);
  CHECK(syscalls.recv == 0);
  REQUIRE(::write(far.get(), "banner", 6) == 6);
  REQUIRE(run_loop(loop));
  CHECK(text(transport.read(100)) == "banner");
}

TEST_CASE("tcp: one recv a readable event, one call to send a head and its body, one epoll_ctl") {
  const std::string body(GENERATE(4, 4000), 'b');  // little is joined, more is sent from its places
  const int joined = body.size() < 100 ? 10 : 0;
  int rounds = 0;
  Fixture* fixture = nullptr;
  Fixture f(tests::tcp_pair(), [&] {
    Arrival arrival = fixture->near.read(8192);
    if (arrival.flow != Flow::data) return;
    CHECK(fixture->near.read(8192).flow == Flow::wait);
    fixture->near.send(Slice::literal("head "));
    fixture->near.send(Slice::literal(body));
    CHECK(fixture->near.flush() == Flow::end);
    if (++rounds == 10) return fixture->loop.stop();
  });
  fixture = &f;
  Agent far_end(f.loop, [] {});
  SocketTransport far(f.loop, std::move(f.far));
  Agent client(f.loop, [&] {
    if (far.read(8192).flow == Flow::data || rounds == 0) far.send(Slice::literal("request"));
    far.flush();
  });
  f.near.attach(&f.owner);
  CHECK(f.near.read(100).flow == Flow::wait);
  far.attach(&client);
  client.wake();
  syscalls = {};
  REQUIRE(run_loop(f.loop));
  CHECK(syscalls.recv <= 10 + 11);         // near: one a request; far: one an answer
  CHECK(syscalls.send == 10 + joined);     // far: one piece a request
  CHECK(syscalls.sendmsg == 10 - joined);  // near: head and body together
  CHECK(syscalls.epoll_ctl <= 2 + 1);      // each connection, and the loop's own mailbox
}

TEST_CASE("tcp: a client that is answered and closed at once costs no epoll_ctl") {
  auto [near, far] = tests::tcp_pair();
  core::Loop loop;
  auto transport = std::make_unique<SocketTransport>(loop, std::move(near));
  Agent owner(loop, [&] {
    if (text(transport->read(100)) != "request") return;
    transport->send(Slice::literal("answer"));
    CHECK(transport->flush() == Flow::end);
    transport.reset();
    loop.stop();
  });
  REQUIRE(::write(far.get(), "request", 7) == 7);
  tests::wait_readable(transport->descriptor());
  syscalls = {};
  transport->attach(&owner);
  owner.wake();
  REQUIRE(run_loop(loop));
  CHECK(syscalls.epoll_ctl <= 1);  // the loop's own mailbox
}

TEST_CASE("tcp: a client whose answer takes longer is watched after a moment") {
  auto [near, far] = tests::tcp_pair();
  core::Loop loop;
  SocketTransport transport(loop, std::move(near));
  std::string heard;
  Agent owner(loop, [&] {
    heard += text(transport.read(100));
    if (heard == "request") CHECK(::write(far.get(), " and more", 9) == 9);
    if (heard == "request and more") loop.stop();
  });
  REQUIRE(::write(far.get(), "request", 7) == 7);
  tests::wait_readable(transport.descriptor());
  transport.attach(&owner);
  owner.wake();
  REQUIRE(run_loop(loop));
}

// Segments that the far end has got when it has read an answer and the end.
unsigned segments_of_an_answer(bool close_follows) {
  auto [near, far] = tests::tcp_pair();
  core::Loop loop;
  auto transport = std::make_unique<SocketTransport>(loop, std::move(near));
  if (close_follows) transport->close_follows();
  transport->send(Slice::literal("answer"));
  CHECK(transport->flush() == Flow::end);
  transport.reset();
  std::string got;
  char byte;
  const auto next = [&] {
    tests::wait_readable(far.get());
    return ::read(far.get(), &byte, 1) == 1;
  };
  while (next()) got += byte;
  CHECK(got == "answer");
  tcp_info info{};
  socklen_t size = sizeof info;
  REQUIRE(::getsockopt(far.get(), IPPROTO_TCP, TCP_INFO, &info, &size) == 0);
  return info.tcpi_segs_in;
}

TEST_CASE("tcp: the end travels with the last bytes where the closing was announced") {
  CHECK(segments_of_an_answer(true) + 1 == segments_of_an_answer(false));
}

TEST_CASE("tcp: an event that nobody answers does not spin, and reading goes on after it") {
  Fixture f(tests::tcp_pair());
  f.near.attach(&f.owner);
  CHECK(f.near.read(100).flow == Flow::wait);
  f.far_sends("one");
  CHECK(f.wakes_in(30ms) <= 2);
  f.far_sends("two");
  CHECK(f.wakes_in(30ms) == 0);
  CHECK(text(f.near.read(100)) == "onetwo");
  f.far_sends("three");
  CHECK(f.wakes_in(30ms) >= 1);
  CHECK(text(f.near.read(100)) == "three");
}

TEST_CASE("tcp: the peer's end is told once, and does not spin") {
  Fixture f(tests::tcp_pair());
  f.near.attach(&f.owner);
  f.far_sends("last");
  ::shutdown(f.far.get(), SHUT_WR);
  f.wakes_in(30ms);
  CHECK(text(f.near.read(100)) == "last");
  CHECK(f.wakes_in(30ms) >= 1);
  CHECK(f.near.read(100).flow == Flow::end);
  CHECK(f.near.read(100).flow == Flow::end);
  CHECK(f.wakes_in(30ms) == 0);
  f.near.send(Slice::literal("still heard"));
  CHECK(f.near.flush() == Flow::end);
  CHECK(f.far_reads() == "still heard");
  CHECK_FALSE(f.near.broken());
}

TEST_CASE("tcp: a reset is a fault, not an end") {
  Fixture f(tests::tcp_pair());
  f.near.attach(&f.owner);
  f.far_resets();
  CHECK(f.wakes_in(30ms) >= 1);
  const Arrival arrival = f.near.read(100);
  CHECK(arrival.flow == Flow::fail);
  CHECK(arrival.error.fault == Fault::endpoint_reset);
  CHECK(arrival.error.os == ECONNRESET);
  CHECK(f.near.broken());
  CHECK(f.wakes_in(30ms) == 0);
}

TEST_CASE("tcp: what came before a failed send can still be read (RFC 9112 9.5)") {
  Fixture f(tests::tcp_pair());
  f.near.attach(&f.owner);
  f.near.send(Slice::literal("the beginning of a long request"));
  REQUIRE(f.near.flush() == Flow::end);
  f.far_sends("401 early");
  tests::wait_readable(f.far.get());
  f.far.reset();  // with unread bytes: a reset follows the answer
  tests::wait_readable(f.near.descriptor());
  Flow flow = Flow::end;
  for (int i = 0; i < 3 && flow != Flow::fail; ++i) {
    f.near.send(Slice::literal("more"));
    flow = f.near.flush();
  }
  CHECK(flow == Flow::fail);
  CHECK(f.near.send_error().fault == Fault::endpoint_reset);
  CHECK(text(f.near.read(100)) == "401 early");
}

TEST_CASE("tcp: a full kernel makes the sender wait; it is woken when the queue is short") {
  Fixture* fixture = nullptr;
  std::uint64_t at_wake = 0;
  Fixture f(tests::tcp_pair(4096), [&] {
    at_wake = fixture->near.unsent();
    fixture->loop.stop();
  });
  fixture = &f;
  f.near.attach(&f.owner);
  const std::string much(1 << 20, 'x');
  f.near.send(Slice::literal(much));
  CHECK(f.near.flush() == Flow::wait);
  CHECK(f.near.flush() == Flow::wait);
  CHECK(f.near.sent() + f.near.unsent() == much.size());
  SocketTransport far(f.loop, std::move(f.far));
  std::uint64_t got = 0;
  Agent reader(f.loop, [&] {
    for (Arrival in = far.read(1 << 20); in.flow == Flow::data; in = far.read(1 << 20))
      got += core::length(in.piece);
  });
  far.attach(&reader);
  REQUIRE(run_loop(f.loop));
  CHECK(at_wake < Transport::low_water);
  CHECK(got > 0);
}

TEST_CASE("tcp: the end of sending comes after what is queued") {
  Fixture f(tests::tcp_pair());
  f.near.send(Slice::literal("all"));
  f.near.finish_sending();
  REQUIRE(f.near.flush() == Flow::end);
  CHECK(f.far_reads() == "all");
  CHECK(f.far_reads().empty());
}

TEST_CASE("tcp: closing can be made a reset") {
  auto [near, far] = tests::tcp_pair();
  core::Loop loop;
  {
    SocketTransport transport(loop, std::move(near));
    transport.reset_on_close();
  }
  tests::wait_readable(far.get());
  char byte = 0;
  CHECK(::read(far.get(), &byte, 1) == -1);
  CHECK(errno == ECONNRESET);
}

TEST_CASE("tcp: a new owner hears of an event that the old one left") {
  Fixture f(tests::tcp_pair());
  f.near.attach(nullptr);
  CHECK(f.near.read(100).flow == Flow::wait);
  f.far_sends("surplus");
  f.wakes_in(30ms);
  f.near.attach(&f.owner);
  CHECK(f.wakes_in(10ms) == 1);
  CHECK(text(f.near.read(100)) == "surplus");
}

TEST_CASE("tcp: a file that became shorter breaks the answer off") {
  Fixture f(tests::tcp_pair());
  auto file = std::make_shared<Fd>(::memfd_create("short", MFD_CLOEXEC));
  REQUIRE(::write(file->get(), "1234", 4) == 4);
  f.near.attach(&f.owner);
  f.near.send(core::FileRange{file, 0, 10});
  CHECK(f.near.flush() == Flow::wait);
  f.wakes_in(30ms);
  CHECK(f.near.flush() == Flow::fail);
  CHECK(f.near.send_error().fault == Fault::response_cut);
  CHECK(f.near.sent() == 4);
  CHECK_FALSE(f.near.broken());
}

TEST_CASE("tcp: where there is plenty, an allowed splice hands out a pipe") {
  Fixture f(tests::tcp_pair());
  f.far_sends(std::string(100'000, 'x'));
  tests::wait_readable(f.near.descriptor());
  CHECK(std::holds_alternative<Slice>(f.near.read(1 << 20, Splice::allowed).piece));
  const Arrival second = f.near.read(1 << 20, Splice::allowed);
  REQUIRE(second.flow == Flow::data);
  CHECK(std::holds_alternative<core::PipeRange>(second.piece));
  CHECK(std::holds_alternative<Slice>(f.near.read(1 << 20, Splice::refused).piece));
}

TEST_CASE("tcp: only what the peer's kernel has counts as acknowledged") {
  Fixture f(tests::unix_pair());
  f.near.send(Slice::literal("hello"));
  REQUIRE(f.near.flush() == Flow::end);
  CHECK(f.near.sent() == 5);
  CHECK(f.near.acknowledged() == 0);  // a Unix socket counts what lies unread
  f.far_reads();
  CHECK(f.near.acknowledged() == 5);
}

TEST_CASE("tcp: a queue that is refilled before it is empty does not grow for ever") {
  SendQueue queue;
  const auto [near, far] = tests::unix_pair();
  std::string drained(4096, '\0');
  queue.push(Slice::literal("0123456789"));
  for (int i = 0; i < 10'000; ++i) {
    queue.push(Slice::literal("0123456789"));
    REQUIRE(queue.send_to(near.get(), 1).sent >= 10);
    REQUIRE(::read(far.get(), drained.data(), drained.size()) > 0);
  }
  CHECK(queue.bytes() == 0);
}

TEST_CASE("tcp: empty pieces are no pieces") {
  SendQueue queue;
  queue.push(Slice());
  queue.push(core::FileRange{});
  queue.push(core::PipeRange{core::lease_pipe()});
  CHECK(queue.empty());
}

}  // namespace portico::net
