#include "proxy/net/channel.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <array>
#include <catch2/catch.hpp>
#include <cstring>

#include "tests/support/run_loop.h"
#include "tests/support/sockets.h"

namespace portico::net {
namespace {

using core::Fault;
using core::Fd;

/// Two channels in one loop; what arrives at the second is kept.
struct Fixture {
  Fixture() : Fixture(std::move(*Channel::pair())) {}
  explicit Fixture(std::pair<Fd, Fd> ends)
      : speaker(loop, [] {}),
        hearer(loop, [this] { hear(); }),
        one(speaker, std::move(ends.first)),
        two(hearer, std::move(ends.second)) {}

  void hear() {
    for (;;) {
      auto message = two.receive();
      if (!message) error = message.error();
      if (!message || !*message) break;
      heard.push_back(std::move(**message));
    }
    if (heard.size() >= expected || error.fault != Fault::none) loop.stop();
  }
  bool hear_until(std::size_t count) {
    expected = count;
    return tests::run_loop(loop);
  }

  core::Loop loop;
  tests::Agent speaker;
  tests::Agent hearer;
  Channel one;
  Channel two;
  std::vector<Message> heard;
  std::size_t expected = 0;
  core::Error error;
};

bool same_file(int a, int b) {
  struct stat left {};
  struct stat right {};
  return ::fstat(a, &left) == 0 && ::fstat(b, &right) == 0 && left.st_ino == right.st_ino &&
         left.st_dev == right.st_dev;
}

Fd some_file() { return Fd(::memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING)); }

/// While it lives, this process may open only so many more descriptors.
class FewDescriptors {
 public:
  explicit FewDescriptors(rlim_t more) {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const Fd lowest = some_file();
    rlimit now = before_;
    now.rlim_cur = static_cast<rlim_t>(lowest.get()) + more;
    ::setrlimit(RLIMIT_NOFILE, &now);
  }
  ~FewDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

/// A raw datagram, as a process that keeps no rules might send it.
void send_raw(int fd, std::string_view bytes, const std::vector<int>& fds) {
  iovec part{const_cast<char*>(bytes.data()), bytes.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * 4)> control{};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  if (!fds.empty()) {
    header.msg_control = control.data();
    header.msg_controllen = CMSG_SPACE(sizeof(int) * fds.size());
    cmsghdr* rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof(int) * fds.size());
    std::memcpy(CMSG_DATA(rights), fds.data(), sizeof(int) * fds.size());
  }
  REQUIRE(::sendmsg(fd, &header, MSG_NOSIGNAL) >= 0);
}

}  // namespace

TEST_CASE("channel: texts arrive whole, in order, with their descriptors") {
  Fixture f;
  const Fd a = some_file();
  const Fd b = some_file();
  f.one.send("first");
  f.one.send("", std::array{a.get(), b.get()});
  f.one.send(std::string(Channel::text_limit, 'x'));
  REQUIRE(f.hear_until(3));
  CHECK(f.heard[0].text == "first");
  CHECK(f.heard[1].text.empty());
  REQUIRE(f.heard[1].fds.size() == 2);
  CHECK(same_file(f.heard[1].fds[0].get(), a.get()));
  CHECK(same_file(f.heard[1].fds[1].get(), b.get()));
  CHECK((::fcntl(f.heard[1].fds[0].get(), F_GETFD) & FD_CLOEXEC) != 0);
  CHECK(f.heard[2].text.size() == Channel::text_limit);
}

TEST_CASE("channel: a text is the datagram, so that the other side need not be a channel") {
  auto ends = std::move(*Channel::pair());
  core::Loop loop;
  tests::Agent owner(loop, [] {});
  Channel channel(owner, std::move(ends.first));
  channel.send("stop");
  char bytes[16];
  CHECK(::recv(ends.second.get(), bytes, sizeof bytes, 0) == 4);
  CHECK(std::string_view(bytes, 4) == "stop");
}

TEST_CASE("channel: a text that begins with a NUL arrives as it is") {
  Fixture f;
  f.one.send(std::string_view("\0x", 2));
  REQUIRE(f.hear_until(1));
  CHECK(f.heard[0].text == std::string_view("\0x", 2));
}

TEST_CASE("channel: as many descriptors as the limit says") {
  Fixture f;
  const Fd file = some_file();
  f.one.send("many", std::vector<int>(Channel::fds_limit, file.get()));
  REQUIRE(f.hear_until(1));
  CHECK(f.heard[0].fds.size() == Channel::fds_limit);
}

TEST_CASE("channel: a message waits while there is no room for its descriptors") {
  Fixture f;
  const Fd file = some_file();
  f.one.send("two", std::array{file.get(), file.get()});
  f.one.send("last");
  {
    const FewDescriptors limit(1);
    f.hear();
    CHECK(f.heard.empty());
    CHECK_FALSE(f.two.closed());
  }
  REQUIRE(f.hear_until(2));
  CHECK(f.heard[0].text == "two");
  REQUIRE(f.heard[0].fds.size() == 2);
  CHECK(same_file(f.heard[0].fds[1].get(), file.get()));
  CHECK(f.heard[1].text == "last");
}

TEST_CASE("channel: a large text travels too, with descriptors behind it") {
  Fixture f;
  std::string large(300'000, 'x');
  large.back() = 'y';
  const Fd file = some_file();
  f.one.send(large, std::array{file.get()});
  REQUIRE(f.hear_until(1));
  CHECK(f.heard[0].text == large);
  REQUIRE(f.heard[0].fds.size() == 1);
  CHECK(same_file(f.heard[0].fds[0].get(), file.get()));
}

TEST_CASE("channel: what does not fit into the socket waits, and loses nothing") {
  Fixture f;
  for (int i = 0; i < 500; ++i) {
    const Fd file = some_file();
    f.one.send(std::to_string(i) + std::string(5000, '.'), std::array{file.get()});
  }
  REQUIRE(f.hear_until(500));
  for (std::size_t i = 0; i < f.heard.size(); ++i) {
    CHECK(std::stoul(f.heard[i].text) == i);
    CHECK(f.heard[i].fds.size() == 1);
  }
}

TEST_CASE("channel: one that reads nothing is taken for gone once the limit is reached") {
  Fixture fixture;
  std::string text = "x";
  std::size_t fds = 0;
  SECTION("by texts") { text = std::string(30000, 'x'); }
  SECTION("by descriptors") { fds = Channel::fds_limit; }
  SECTION("by their number") {}
  const Fd file(::memfd_create("given", MFD_CLOEXEC));
  const std::vector<int> given(fds, file.get());
  const std::size_t each = text.size() + fds * Channel::fd_cost + Channel::message_cost;
  std::size_t sent = 0;
  for (; !fixture.one.closed() && sent < 1'000'000; ++sent) fixture.one.send(text, given);
  CHECK(fixture.one.is_deaf());
  CHECK(sent > Channel::queue_limit / each);
  CHECK(sent < Channel::queue_limit / each + 2000);  // what lies in the socket is not counted
  CHECK(fixture.one.receive().error().fault == Fault::endpoint_closed);
  fixture.one.send("more");  // into the void
}

TEST_CASE("channel: one that reads late is not taken for gone, whatever it was sent in all") {
  Fixture fixture;
  const std::string text(30000, 'x');
  const std::size_t half = Channel::queue_limit / text.size() / 2;
  for (std::size_t round = 1; round <= 4; ++round) {
    for (std::size_t i = 0; i < half; ++i) fixture.one.send(text);
    REQUIRE(fixture.hear_until(round * half));
  }
  CHECK_FALSE(fixture.one.is_deaf());
}

TEST_CASE("channel: the other side's end comes after what it said") {
  auto ends = std::move(*Channel::pair());
  core::Loop loop;
  tests::Agent owner(loop, [&] { loop.stop(); });
  Channel channel(owner, std::move(ends.first));
  send_raw(ends.second.get(), "last words", {});
  ends.second.reset();
  REQUIRE(tests::run_loop(loop));
  const auto last = channel.receive();
  REQUIRE(last);
  CHECK((*last)->text == "last words");
  const auto gone = channel.receive();
  REQUIRE_FALSE(gone);
  CHECK(gone.error().fault == Fault::endpoint_closed);
  CHECK(channel.closed());
  channel.send("to nobody");
  tests::run_loop(loop, std::chrono::milliseconds(20));
  CHECK(owner.runs <= 2);
}

TEST_CASE("channel: sending to one that has gone is noticed") {
  auto ends = std::move(*Channel::pair());
  core::Loop loop;
  tests::Agent owner(loop, [&] { loop.stop(); });
  Channel channel(owner, std::move(ends.first));
  ends.second.reset();
  channel.send("hello");
  channel.send("hello");
  REQUIRE(tests::run_loop(loop));
  CHECK_FALSE(channel.receive());
  CHECK(channel.closed());
}

TEST_CASE("channel: last words are heard, whatever the other side has left unread or is sent now") {
  auto ends = std::move(*Channel::pair());
  core::Loop loop;
  tests::Agent owner(loop, [] {});
  Channel channel(owner, std::move(ends.first));
  const bool unread = GENERATE(true, false);
  if (unread) channel.send("stop");
  send_raw(ends.second.get(), "exited", {});
  send_raw(ends.second.get(), "leaving", {});
  ends.second.reset();
  if (GENERATE(true, false)) channel.send("stop");
  for (const char* words : {"exited", "leaving"}) {
    const auto heard = channel.receive();
    REQUIRE(heard);
    REQUIRE(heard->has_value());
    CHECK((*heard)->text == words);
  }
  CHECK_FALSE(channel.receive());
}

TEST_CASE("channel: whoever breaks the rules is taken for gone") {
  auto ends = std::move(*Channel::pair());
  core::Loop loop;
  tests::Agent owner(loop, [] {});
  Channel channel(owner, std::move(ends.first));
  const Fd file = some_file();
  REQUIRE(::write(file.get(), "text", 4) == 4);
  SECTION("more text than allowed") {
    send_raw(ends.second.get(), std::string(Channel::text_limit + 1, 't'), {});
  }
  const std::string in_file(1, '\0');
  SECTION("a text in a file that is not there") { send_raw(ends.second.get(), in_file, {}); }
  SECTION("a text in a file and beside it") {
    send_raw(ends.second.get(), in_file + "text", {file.get()});
  }
  SECTION("a text in a file that can still change") {
    send_raw(ends.second.get(), in_file, {file.get()});
  }
  CHECK_FALSE(channel.receive());
  CHECK(channel.closed());
}

}  // namespace portico::net
