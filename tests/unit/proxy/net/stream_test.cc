// Every byte arrives: pieces of all kinds through sockets with small buffers, random rooms, and a
// relay in between.
#include <sys/mman.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <random>

#include "proxy/net/tcp.h"
#include "tests/support/run_loop.h"
#include "tests/support/sockets.h"

namespace portico::net {
namespace {

using core::Flow;
using core::Slice;
using Random = std::mt19937;

constexpr std::size_t most = 10 * 1024 * 1024;

const std::string& sample() {
  static const std::string bytes = [] {
    std::mt19937_64 random(1);
    std::string made(most, '\0');
    for (char& c : made) c = static_cast<char>(random());
    return made;
  }();
  return bytes;
}

const std::shared_ptr<core::Fd>& sample_file() {
  static const std::shared_ptr<core::Fd> file = [] {
    auto made = std::make_shared<core::Fd>(::memfd_create("sample", MFD_CLOEXEC));
    if (::write(made->get(), sample().data(), most) != static_cast<ssize_t>(most)) std::abort();
    return made;
  }();
  return file;
}

std::size_t between(Random& random, std::size_t low, std::size_t high) {
  return std::uniform_int_distribution<std::size_t>(low, high)(random);
}

std::size_t some_size(Random& random) {
  switch (between(random, 0, 7)) {
    case 0:
      return between(random, 1, 100);
    case 1:
      return between(random, 1, 300'000);
    default:
      return between(random, 1, 40'000);
  }
}

core::Piece pipe_with(std::string_view bytes) {
  core::PipeLease pipe = core::lease_pipe();
  const ssize_t written = ::write(pipe->write_end.get(), bytes.data(), bytes.size());
  if (written != static_cast<ssize_t>(bytes.size())) std::abort();
  pipe->held = bytes.size();
  return core::PipeRange{std::move(pipe)};
}

core::Piece some_piece(Random& random, std::size_t from, std::size_t length) {
  const std::string_view bytes = std::string_view(sample()).substr(from, length);
  switch (between(random, 0, 3)) {
    case 0:
      return core::FileRange{sample_file(), from, length};
    case 1:
      if (length <= 60'000) return pipe_with(bytes);
      return Slice::literal(bytes);
    default:
      return Slice::literal(bytes);
  }
}

/// Sends the first `total` bytes of the sample in pieces of all kinds.
class Sender final : public core::Active {
 public:
  Sender(core::Loop& loop, core::Fd fd, std::size_t total, Random& random)
      : Active(loop), transport_(loop, std::move(fd)), total_(total), random_(random) {
    transport_.attach(this);
    wake();
  }
  void advance() override {
    Flow flow = Flow::end;
    while (flow != Flow::fail && given_ < total_ && transport_.unsent() < Transport::low_water) {
      for (std::size_t pieces = between(random_, 1, 5); pieces > 0 && given_ < total_; --pieces) {
        const std::size_t size = std::min(some_size(random_), total_ - given_);
        transport_.send(some_piece(random_, given_, size));
        given_ += size;
      }
      flow = transport_.flush();
    }
    if (given_ == total_) transport_.finish_sending();
    if (transport_.flush() == Flow::fail) loop().stop();
  }
  const Transport& transport() const { return transport_; }

 private:
  SocketTransport transport_;
  std::size_t total_;
  std::size_t given_ = 0;
  Random& random_;
};

/// Compares what arrives with the sample, until the end.
class Receiver final : public core::Active {
 public:
  Receiver(core::Loop& loop, core::Fd fd, Random& random)
      : Active(loop), transport_(loop, std::move(fd)), random_(random) {
    transport_.attach(this);
  }
  void advance() override {
    for (;;) {
      const Splice splice = between(random_, 0, 1) == 0 ? Splice::refused : Splice::allowed;
      const std::size_t room = some_size(random_);
      Arrival arrival = transport_.read(room, splice);
      flow = arrival.flow;
      if (flow == Flow::wait) return;
      if (flow != Flow::data) return loop().stop();
      const std::string bytes = taken(arrival.piece);
      honest = honest && bytes.size() <= room && sample().compare(got, bytes.size(), bytes) == 0;
      got += bytes.size();
    }
  }
  std::size_t got = 0;
  bool honest = true;
  Flow flow = Flow::wait;
  int pipes = 0;

 private:
  std::string taken(core::Piece& piece) {
    if (auto* slice = std::get_if<Slice>(&piece)) return std::string(slice->view());
    ++pipes;
    core::Pipe& pipe = *std::get<core::PipeRange>(piece).pipe;
    std::string bytes(pipe.held, '\0');
    const ssize_t read = ::read(pipe.read_end.get(), bytes.data(), bytes.size());
    pipe.held -= static_cast<std::size_t>(read);
    return bytes;
  }

  SocketTransport transport_;
  Random& random_;
};

/// Bytes of one connection into another, as a proxy does.
class Relay final : public core::Active {
 public:
  Relay(core::Loop& loop, core::Fd in, core::Fd out)
      : Active(loop), in_(loop, std::move(in)), out_(loop, std::move(out)) {
    in_.attach(this);
    out_.attach(this);
  }
  void advance() override {
    for (;;) {
      const Flow sending = out_.flush();
      if (sending == Flow::fail) return loop().stop();
      if (out_.unsent() >= Transport::low_water) return;
      Arrival arrival = in_.read(256 * 1024, Splice::allowed);
      if (arrival.flow == Flow::end) {
        out_.finish_sending();
        return;
      }
      if (arrival.flow != Flow::data) return;
      if (std::holds_alternative<core::PipeRange>(arrival.piece)) ++pipes;
      out_.send(std::move(arrival.piece));
    }
  }
  int pipes = 0;

 private:
  SocketTransport in_;
  SocketTransport out_;
};

enum class Kind { tcp, unix_socket };

tests::FdPair pair_of(Kind kind, int buffer) {
  return kind == Kind::tcp ? tests::tcp_pair(buffer) : tests::unix_pair(buffer);
}

}  // namespace

TEST_CASE("stream: every byte arrives, in order, for all kinds of pieces and buffers") {
  ::signal(SIGPIPE, SIG_IGN);
  const auto kind = GENERATE(Kind::tcp, Kind::unix_socket);
  const int buffer = GENERATE(4096, 0);
  const std::size_t total = GENERATE(1u, 4095u, 65'536u, 1'000'003u, unsigned{most});
  CAPTURE(kind, buffer, total);
  Random random(static_cast<unsigned>(total));
  core::Loop loop;
  auto [from, to] = pair_of(kind, buffer);
  Receiver receiver(loop, std::move(to), random);
  Sender sender(loop, std::move(from), total, random);
  REQUIRE(tests::run_loop(loop));
  CHECK(receiver.flow == Flow::end);
  CHECK(receiver.got == total);
  CHECK(receiver.honest);
  CHECK(sender.transport().sent() == total);
  CHECK(sender.transport().unsent() == 0);
}

TEST_CASE("stream: a relay hands on every byte, by splice where there is plenty") {
  ::signal(SIGPIPE, SIG_IGN);
  const auto in = GENERATE(Kind::tcp, Kind::unix_socket);
  const auto out = GENERATE(Kind::tcp, Kind::unix_socket);
  const int buffer = GENERATE(4096, 0);
  CAPTURE(in, out, buffer);
  Random random(7);
  core::Loop loop;
  auto [source, relay_in] = pair_of(in, 0);
  auto [relay_out, sink] = pair_of(out, buffer);
  Receiver receiver(loop, std::move(sink), random);
  Relay relay(loop, std::move(relay_in), std::move(relay_out));
  Sender sender(loop, std::move(source), most, random);
  REQUIRE(tests::run_loop(loop));
  CHECK(receiver.flow == Flow::end);
  CHECK(receiver.got == most);
  CHECK(receiver.honest);
  CHECK(relay.pipes > 0);
}

}  // namespace portico::net
