// WsgiCall with `request: stream`: the record goes before the body; times, failures, deaths, and
// that what one worker has read no other is given. README.md, "Feeds".
#include <catch2/catch.hpp>

#include "backend/front/wsgi_call.h"
#include "tests/support/fake_feed.h"
#include "tests/support/wsgi_call_bench.h"

using namespace portico;
using namespace portico::tests;
using core::Fault;
using core::Flow;
using std::chrono::milliseconds;
using std::chrono::seconds;
using Drive = core::Loop::Drive;

namespace {

std::string head_of(std::string_view method, std::string_view framing) {
  return std::string(method) + " / HTTP/1.1\r\nHost: a.example\r\n" + std::string(framing) +
         "\r\n\r\n";
}

struct Bench : WsgiCallBench {
  explicit Bench(Drive drive = Drive::by_events, std::string_view method = "POST",
                 std::string_view framing = "Transfer-Encoding: chunked")
      : WsgiCallBench(head_of(method, framing), drive) {
    route.request = conf::Handover::stream;
  }
  /// The next record, claimed, and its feed.
  Taken take(FakeWorker& worker) {
    auto next = worker.begin(now_ns());
    REQUIRE(next);
    feed = FakeFeed(std::move(next->body));
    return std::move(*next);
  }
  /// The worker has read "some", and the client is to send more.
  Taken read_some(FakeWorker& worker) {
    Taken taken = take(worker);
    feed.ask();
    source.add(slice_of("some"));
    until([&] { return feed.take().has_value(); });
    return taken;
  }
  void run_for(core::Duration time) {
    const core::Time later = wsgi.loop.now() + time;
    until([&] { return wsgi.loop.now() > later; });
  }

  FakeFeed feed;
};

}  // namespace

TEST_CASE("streamed call: the request is handed over as soon as its head is there") {
  const bool told = GENERATE(false, true);
  Bench bench(Drive::by_events, "POST", told ? "Content-Length: 8" : "Transfer-Encoding: chunked");
  FakeWorker& worker = bench.wsgi.start_worker(3);
  bench.begin();
  const Taken taken = bench.take(worker);
  CHECK(taken.record.body_place == record::BodyPlace::feed);
  CHECK(taken.record.has_length == told);
  CHECK(taken.record.content_length == (told ? 8 : 0));
  CHECK(taken.record.response_ms == 0);
  bench.feed.ask();
  bench.source.add(slice_of("some"));
  bench.until([&] { return bench.feed.take().has_value(); });
  bench.feed.ask();
  bench.source.add(slice_of("more"));
  bench.source.finish(Flow::end);
  bench.until([&] { return bench.feed.drain().has_value(); });
  CHECK(bench.feed.bytes == "somemore");
  worker.send(Frames(taken).head().end().text());
  bench.until([&] { return bench.call->over(); });
  CHECK(bench.exchange.response()->status == 200);
  CHECK(bench.wsgi.app->admission().in_use() == 0);
}

TEST_CASE("streamed call: without a body, or with an empty one, there is no feed") {
  const std::string_view framing = GENERATE("X-A: b", "Content-Length: 0");
  Bench bench(Drive::by_hand, "POST", framing);
  FakeWorker& worker = bench.wsgi.start_worker(3);
  bench.source.finish(Flow::end);
  bench.begin();
  const Taken taken = bench.take(worker);
  CHECK(taken.record.body_place == record::BodyPlace::none);
  CHECK(taken.record.has_length == (framing != "X-A: b"));
  CHECK(taken.record.response_ms == 30000);
}

TEST_CASE("streamed call: an answer before the end of the body ends the reading of it") {
  Bench bench;
  FakeWorker& worker = bench.wsgi.start_worker(3);
  bench.begin();
  const Taken taken = bench.take(worker);
  if (GENERATE(false, true)) bench.feed.ask();
  worker.send(Frames(taken).head(403).end().text());
  bench.until([&] { return bench.call->over(); });
  CHECK(bench.exchange.response()->status == 403);
  bench.until([&] { return bench.feed.is_closed(); });
  bench.source.add(slice_of("late"));
  bench.wsgi.settle();
  CHECK(bench.source.pull(10, bench.reader).flow == Flow::data);  // the session's to drain
}

TEST_CASE("streamed call: a body that fails is the error page before the head, and nothing after") {
  const bool headed = GENERATE(false, true);
  Bench bench;
  FakeWorker& worker = bench.wsgi.start_worker(3);
  bench.begin();
  const Taken taken = bench.read_some(worker);
  if (headed) worker.send(Frames(taken).head().data("x").text());
  if (headed) bench.until([&] { return bench.exchange.answered(); });
  bench.feed.ask();
  bench.source.finish(Flow::fail, {Fault::body_too_large, 0, "reading the request body"});
  std::optional<record::FeedHeader> last;
  bench.until([&] { return (last = bench.feed.drain()).has_value(); });
  CHECK(last->failure == record::FeedFailure::too_large);
  CHECK(bench.call->over() == !headed);
  if (!headed) CHECK(bench.exchange.fault() == Fault::body_too_large);
  CHECK(bench.exchange.trace().upstream == "worker 3");
  if (!headed)
    CHECK_FALSE(bench.wsgi.channels[0]->cells.wanted(taken.record.cell, taken.record.serial));
  if (headed) worker.send(Frames(taken).data("y").end().text());
  if (headed) bench.until([&] { return bench.call->over(); });
  if (headed) CHECK(bench.pull() == Flow::end);
}

TEST_CASE("streamed call: a client that leaves leaves an end of file in place of the rest") {
  Bench bench;
  FakeWorker& worker = bench.wsgi.start_worker(3);
  bench.begin();
  bench.read_some(worker);
  bench.call.reset();
  CHECK(bench.feed.is_closed());
  CHECK_FALSE(bench.feed.take());
}

TEST_CASE("timeouts.response: does not count while the application waits for the client") {
  Bench bench;
  bench.route.timeouts.response = milliseconds(600);
  FakeWorker& worker = bench.wsgi.start_worker(3);
  bench.begin();
  bench.read_some(worker);
  bench.feed.ask();
  bench.run_for(milliseconds(1300));
  CHECK_FALSE(bench.exchange.answered());
  bench.source.add(slice_of("more"));
  bench.until([&] { return bench.exchange.answered(); });  // it takes it, and is heard of no more
  CHECK(bench.exchange.fault() == Fault::response_timeout);
  CHECK(bench.wsgi.told.size() == 1);  // a hang
}

TEST_CASE("timeouts.response: counts for one that does not read, or does not take what there is") {
  const bool asks = GENERATE(false, true);
  Bench bench;
  bench.route.timeouts.response = milliseconds(50);
  FakeWorker& worker = bench.wsgi.start_worker(3);
  bench.begin();
  const Taken taken = bench.take(worker);
  bench.source.add(slice_of("some"));
  if (asks) bench.feed.ask();
  bench.until([&] { return bench.exchange.answered(); });
  CHECK(bench.exchange.fault() == Fault::response_timeout);
}

TEST_CASE("timeouts.response: begins anew with each piece that the worker takes") {
  Bench bench;
  bench.route.timeouts.response = seconds(1);
  FakeWorker& worker = bench.wsgi.start_worker(3);
  bench.begin();
  bench.take(worker);
  bench.feed.ask();
  for (int i = 0; i < 10; ++i) bench.source.add(slice_of("x"));
  bench.until([&] { return bench.feed.drain() || bench.feed.bytes.size() == 10; });
  for (std::uint64_t i = 1; i <= 10; ++i) {
    bench.run_for(milliseconds(120));
    bench.feed.note(i, false);
  }
  CHECK_FALSE(bench.exchange.answered());
}

TEST_CASE("streamed call: what no worker has begun is sent again with its whole body") {
  Bench bench;
  FakeWorker& first = bench.wsgi.start_worker(3);
  FakeWorker& second = bench.wsgi.start_worker(4);
  bench.begin();
  auto taken = first.take();  // and dies before it claims it
  REQUIRE(taken);
  FakeFeed dead(std::move(taken->body));
  const bool deploy = GENERATE(false, true);
  FakeWorker* next = &second;
  if (deploy) {
    bench.wsgi.stand_by();
    next = &bench.wsgi.start_worker(5);
    bench.wsgi.hear("switch generation=2");
  } else {
    bench.wsgi.kill_worker(first);
  }
  bench.wsgi.settle();
  CHECK(dead.is_closed());
  bench.take(*next);
  bench.feed.ask();
  bench.source.add(slice_of("some"));
  bench.source.finish(Flow::end);
  bench.until([&] { return bench.feed.drain().has_value(); });
  CHECK(bench.feed.bytes == "some");
  CHECK(bench.exchange.trace().attempts == 2);
}

TEST_CASE("streamed call: what a dead worker has read of, no other is given") {
  const std::string_view method = GENERATE("POST", "GET");
  const bool read = GENERATE(false, true);
  Bench bench(Drive::by_events, method);
  FakeWorker& first = bench.wsgi.start_worker(3);
  FakeWorker& second = bench.wsgi.start_worker(4);
  bench.begin();
  if (read) bench.read_some(first);
  if (!read) bench.take(first);
  bench.wsgi.kill_worker(first);
  bench.wsgi.settle();
  const bool again = !read && method == "GET";
  CHECK(second.begin().has_value() == again);
  CHECK(bench.exchange.answered() == !again);
  CHECK(bench.exchange.trace().attempts == (again ? 2 : 1));
  if (!again) CHECK(bench.exchange.fault() == Fault::worker_died);
}

TEST_CASE("streamed call: a worker that has read and then denies its claim is 502") {
  Bench bench;
  FakeWorker& first = bench.wsgi.start_worker(3);
  FakeWorker& second = bench.wsgi.start_worker(4);
  bench.begin();
  const Taken taken = bench.read_some(first);
  const std::uint64_t sent = std::uint64_t{taken.record.serial} << 32 | 1;
  bench.wsgi.channels[0]->scribble(taken.record.cell, sent);
  bench.wsgi.kill_worker(first);
  bench.wsgi.settle();
  CHECK_FALSE(second.begin());
  CHECK(bench.exchange.fault() == Fault::worker_died);
  CHECK(bench.wsgi.app->admission().in_use() == 0);
}

TEST_CASE("streamed call: a worker that closes its end is given no more, and still answers") {
  Bench bench;
  FakeWorker& worker = bench.wsgi.start_worker(3);
  bench.begin();
  const Taken taken = bench.read_some(worker);
  bench.feed.close();
  bench.wsgi.settle();
  bench.source.add(slice_of("more"));
  bench.wsgi.settle();
  CHECK(bench.source.pull(10, bench.reader).flow == Flow::data);
  worker.send(Frames(taken).head().end().text());
  bench.until([&] { return bench.call->over(); });
  CHECK(bench.exchange.response()->status == 200);
}

TEST_CASE("streamed call: it may be destroyed at any moment") {
  Bench bench;
  FakeWorker& worker = bench.wsgi.start_worker(3);
  const int stage = GENERATE(0, 1, 2, 3);
  bench.begin();
  std::optional<Taken> taken;
  if (stage == 1) taken = bench.take(worker);
  if (stage > 1) taken = bench.read_some(worker);
  if (stage > 2) {
    bench.source.finish(Flow::fail, {Fault::client_gone, 0, "reading"});
    bench.feed.ask();
    bench.until([&] { return bench.call->over(); });
  }
  bench.call.reset();
  if (taken) bench.wsgi.kill_worker(worker);
  CHECK(bench.wsgi.app->admission().in_use() == 0);
}
