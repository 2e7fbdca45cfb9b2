// BodyFeed: the client is read when the worker reads, and no further; what ends a body is told
// apart. README.md, "Feeds".
#include "backend/front/body_feed.h"

#include <catch2/catch.hpp>

#include "tests/support/fake_feed.h"
#include "tests/support/pieces.h"
#include "tests/support/run_loop.h"

using namespace portico;
using namespace portico::tests;
using core::Fault;
using core::Flow;
using record::FeedFailure;
using record::FeedType;

namespace {

/// Hands out `left` bytes, as many at a time as are asked for, and counts.
class LongBody final : public http::BodySource {
 public:
  http::Pull pull(std::size_t room, core::Active&) override {
    const std::size_t part = std::min(room, left);
    if (part == 0) return {Flow::end, {}, nullptr, {}};
    left -= part;
    return {Flow::data, slice_of(pattern(part)), nullptr, {}};
  }
  std::size_t left = 100u << 20;
};

struct Bench final : backend::BodyFeed::Owner {
  explicit Bench(http::BodySource* from = nullptr)
      : feed(loop, from == nullptr ? source : *from, *this) {
    open();
  }
  void open() {
    auto end = feed.open();
    REQUIRE(end);
    worker = FakeFeed(std::move(*end));
  }
  bool may_feed() const override { return claimed; }
  void feed_failed(const core::Error& error) override { failure = error; }

  template <typename Holds>
  void until(Holds&& holds) {
    Agent* self = nullptr;
    Agent look(loop, [&] { holds() ? loop.stop() : self->wake(); });
    self = &look;
    look.wake();
    REQUIRE(run_loop(loop));
  }
  void settle() {
    int looks = 0;
    until([&] { return ++looks > 50; });
  }

  core::Loop loop;
  ScriptedBody source;
  bool claimed = true;
  core::Error failure;
  backend::BodyFeed feed;
  FakeFeed worker;
};

}  // namespace

TEST_CASE("feed: nothing comes before the worker asks (rule 1)") {
  Bench bench;
  bench.source.add(slice_of("some"));
  bench.settle();
  CHECK_FALSE(bench.worker.take());
  CHECK(bench.feed.untouched());
  CHECK_FALSE(bench.feed.awaits_client());
  bench.worker.ask();
  bench.until([&] { return !bench.feed.untouched(); });
  const auto message = bench.worker.take();
  REQUIRE(message);
  CHECK(message->header.type == FeedType::piece);
  CHECK(message->bytes == "some");
}

TEST_CASE("feed: nobody who has not claimed the record is given a byte (rule 1)") {
  Bench bench;
  bench.claimed = false;
  bench.source.add(slice_of("some"));
  bench.worker.ask();
  bench.until([&] { return bench.worker.is_closed(); });
  CHECK(bench.feed.untouched());
  CHECK_FALSE(bench.worker.take());
  bench.open();  // for the one who will
  bench.claimed = true;
  bench.worker.ask();
  bench.until([&] { return bench.worker.take().has_value(); });
  CHECK(bench.worker.bytes == "some");
}

TEST_CASE("feed: pieces come as the client sends, and only `end` ends them (rule 4)") {
  Bench bench;
  bench.worker.ask();
  bench.settle();
  CHECK(bench.feed.awaits_client());
  bench.source.add(slice_of("one"));
  bench.until([&] { return bench.worker.take().has_value(); });
  CHECK_FALSE(bench.feed.awaits_client());
  bench.worker.ask();
  bench.source.add(slice_of("two"));
  bench.source.finish(Flow::end);
  std::optional<record::FeedHeader> last;
  bench.until([&] { return (last = bench.worker.drain()).has_value(); });
  CHECK(bench.worker.bytes == "onetwo");
  CHECK(last->type == FeedType::end);
  CHECK_FALSE(bench.feed.awaits_client());
  bench.worker.ask();
  bench.settle();
  CHECK_FALSE(bench.worker.take());  // once
  CHECK_FALSE(bench.worker.is_closed());
}

TEST_CASE("feed: small chunks go together, and so do the last of them and what ends the body") {
  Bench bench;
  std::string whole;
  for (int i = 0; i < 200; ++i) {
    whole += std::to_string(i);
    bench.source.add(slice_of(std::to_string(i)));
  }
  const bool fails = GENERATE(false, true);
  bench.source.finish(fails ? Flow::fail : Flow::end, {Fault::client_gone, 0, "reading"});
  bench.worker.ask();
  int messages = 0;
  std::optional<FakeFeed::Message> message;
  bench.until([&] {
    while ((message = bench.worker.take())) {
      ++messages;
      if (message->header.type != FeedType::piece) return true;
    }
    return false;
  });
  CHECK(bench.worker.bytes == whole);
  CHECK(message->header.type == (fails ? FeedType::fail : FeedType::end));
  CHECK(messages == 5);
}

TEST_CASE("feed: a client that is ahead is read no further than the socket takes (rule 3)") {
  LongBody body;
  const std::size_t whole = body.left;
  Bench bench(&body);
  bench.worker.ask();
  bench.settle();
  CHECK(whole - body.left <= 512u << 10);
  CHECK_FALSE(bench.feed.awaits_client());
  std::optional<record::FeedHeader> last;
  bench.until([&] {
    last = bench.worker.drain();
    return last.has_value();
  });
  CHECK(bench.worker.bytes.size() == whole);
  CHECK(last->type == FeedType::end);
}

TEST_CASE("feed: a body that fails is told, with the reason, to worker and owner") {
  const auto [fault, failure] = GENERATE(table<Fault, FeedFailure>({
      {Fault::client_gone, FeedFailure::client_gone},
      {Fault::body_too_large, FeedFailure::too_large},
      {Fault::body_timeout, FeedFailure::too_slow},
      {Fault::bad_chunk, FeedFailure::malformed},
      {Fault::internal, FeedFailure::refused},
  }));
  Bench bench;
  bench.source.add(slice_of("some"));
  bench.source.finish(Flow::fail, {fault, 0, "reading"});
  bench.worker.ask();
  bench.until([&] { return bench.failure.fault != Fault::none; });
  const auto last = bench.worker.drain();
  REQUIRE(last);
  CHECK(last->type == FeedType::fail);
  CHECK(last->failure == failure);
  CHECK(bench.worker.bytes == "some");
  CHECK(bench.failure.fault == fault);
  CHECK(bench.worker.is_closed());
}

TEST_CASE("feed: a note is about what was given when it was said (rule 5)") {
  Bench bench;
  bench.source.add(slice_of("some"));
  bench.worker.ask();
  bench.until([&] { return !bench.feed.untouched(); });
  bench.worker.note(0, true);  // crossed with the piece
  bench.settle();
  CHECK_FALSE(bench.feed.awaits_client());
  bench.worker.note(4, false);  // has it, and works
  bench.settle();
  CHECK_FALSE(bench.feed.awaits_client());
  bench.worker.note(4, true);
  bench.until([&] { return bench.feed.awaits_client(); });
}

TEST_CASE("feed: each note is a sign of life") {
  Bench bench;
  bench.source.add(slice_of("some"));
  bench.worker.ask();
  bench.until([&] { return bench.feed.last_moved() != core::Time{}; });
  const core::Time before = bench.feed.last_moved();
  bench.until([&] { return bench.loop.now() > before; });
  bench.worker.note(4, false);
  bench.until([&] { return bench.feed.last_moved() > before; });
}

TEST_CASE("feed: a worker that says what cannot be is given nothing more (rule 6)") {
  Bench bench;
  bench.source.add(slice_of("some"));
  bench.worker.ask();
  bench.until([&] { return !bench.feed.untouched(); });
  const int lie = GENERATE(0, 1, 2, 3);
  if (lie == 0) bench.worker.note(5, false);
  if (lie == 1) bench.worker.say("short");
  if (lie == 2) bench.worker.say(std::string(17, '\0'));
  if (lie == 3) bench.worker.say("");
  bench.until([&] { return bench.worker.is_closed(); });
  CHECK_FALSE(bench.feed.awaits_client());
  CHECK(bench.failure.fault == Fault::none);
}

TEST_CASE("feed: a worker that talks without end holds nobody up") {
  Bench bench;
  for (int i = 0; i < 200; ++i) bench.worker.note(0, true);
  bench.source.add(slice_of("some"));
  bench.until([&] { return bench.worker.take().has_value(); });
  CHECK(bench.worker.bytes == "some");
}

TEST_CASE("feed: a worker that closes its end ends the reading of the client") {
  Bench bench;
  bench.worker.ask();
  bench.settle();
  bench.worker.close();
  bench.until([&] { return !bench.feed.awaits_client(); });
  bench.source.add(slice_of("some"));
  bench.settle();
  CHECK(bench.feed.untouched());
}
