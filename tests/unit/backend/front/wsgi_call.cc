// WsgiCall: from an exchange to a worker and back; the times; ends at any moment.
#include "backend/front/wsgi_call.h"

#include <catch2/catch.hpp>

#include "backend/front/wsgi_handler.h"
#include "proxy/http/target.h"
#include "tests/support/wsgi_call_bench.h"

using namespace portico;
using namespace portico::tests;
using core::Fault;
using core::Flow;
using std::chrono::milliseconds;
using std::chrono::seconds;
using Drive = core::Loop::Drive;

namespace {

constexpr std::string_view get = "GET / HTTP/1.1\r\nHost: a.example\r\n\r\n";
constexpr std::string_view post =
    "POST / HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: chunked\r\n\r\n";

using Bench = WsgiCallBench;

}  // namespace

TEST_CASE("wsgi call: an answer goes to the client as it comes") {
  Bench bench(get, Drive::by_events);
  FakeWorker& worker = bench.wsgi.start_worker(3);
  bench.begin();
  const auto taken = worker.begin(bench.now_ns());
  REQUIRE(taken);
  worker.send(Frames(*taken).head(206, 8).data("some").text());
  bench.until([&] { return bench.exchange.answered(); });
  CHECK(bench.exchange.response()->status == 206);
  CHECK(bench.exchange.response()->length == 8u);
  CHECK(*bench.exchange.response()->fields.find("Content-Type") == "text/plain");
  CHECK(bench.pull() == Flow::wait);
  CHECK(bench.body == "some");
  worker.send(Frames(*taken).data("more").text().substr(0, 10));
  worker.send(Frames(*taken).data("more").end().text().substr(10));
  bench.until([&] { return bench.call->over(); });
  CHECK(bench.pull() == Flow::end);
  CHECK(bench.body == "somemore");
  CHECK(bench.exchange.trace().upstream == "worker 3");
  CHECK(bench.exchange.trace().attempts == 1);
  CHECK(bench.wsgi.app->admission().in_use() == 0);
}

TEST_CASE("wsgi call: interim answers are passed on before the head") {
  Bench bench(get, Drive::by_events);
  FakeWorker& worker = bench.wsgi.start_worker(3);
  bench.begin();
  const auto taken = worker.begin();
  std::string hints = Frames(*taken).head(103).text();
  hints[4] = static_cast<char>(record::FrameType::interim);
  worker.send(hints + Frames(*taken).head().end().text());
  bench.until([&] { return bench.call->over(); });
  CHECK(bench.exchange.informed() == std::vector<int>{103});
  CHECK(bench.exchange.response()->status == 200);
}

TEST_CASE("wsgi call: the request is handed over when its body is whole") {
  Bench bench(post);
  FakeWorker& worker = bench.wsgi.start_worker(3);
  bench.begin();
  bench.source.add(slice_of("na"));
  bench.wsgi.loop.turn();
  CHECK_FALSE(worker.take());
  bench.source.add(slice_of("me"));
  bench.source.finish(Flow::end);
  bench.wsgi.loop.turn();
  const auto taken = worker.begin();
  REQUIRE(taken);
  CHECK(taken->record.body == "name");
}

TEST_CASE("wsgi call: a body that fails fails the exchange, and no worker hears of it") {
  Bench bench(post);
  FakeWorker& worker = bench.wsgi.start_worker(3);
  bench.begin();
  bench.source.finish(Flow::fail, {Fault::body_too_large, 0, "reading the body"});
  bench.wsgi.loop.turn();
  CHECK(bench.exchange.fault() == Fault::body_too_large);
  CHECK(bench.call->over());
  CHECK_FALSE(worker.take());
}

TEST_CASE("wsgi call: head and body that do not fit into one record travel apart") {
  Bench bench("POST / HTTP/1.1\r\nHost: a.example\r\nContent-Length: 30000\r\nX-Large: " +
              std::string(60'000, 'x') + "\r\n\r\n");
  FakeWorker& worker = bench.wsgi.start_worker(3);
  bench.source.add(slice_of(pattern(30'000)));
  bench.source.finish(Flow::end);
  bench.begin();
  const auto taken = worker.begin();
  REQUIRE(taken);
  CHECK(taken->record.body_place == record::BodyPlace::descriptor);
  CHECK((read_file(taken->body.get(), 0, 40'000) == pattern(30'000)));
}

TEST_CASE("wsgi call: a head that no record holds is 431") {
  Bench bench("GET / HTTP/1.1\r\nHost: a.example\r\nX-Large: " + std::string(90'000, 'x') +
              "\r\n\r\n");
  bench.wsgi.start_worker(3);
  bench.begin();
  CHECK(bench.exchange.fault() == Fault::head_too_large);
  CHECK(bench.wsgi.app->admission().in_use() == 0);
}

TEST_CASE("wsgi call: a failed application answers at once, with the cause") {
  Bench bench;
  bench.wsgi.hear("state state=failed cause=import");
  bench.begin();
  CHECK(bench.exchange.fault() == Fault::site_unavailable);
  CHECK(bench.exchange.trace().error.doing == "importing the application");
}

TEST_CASE("wsgi call: one that waits hears of the failure") {
  Bench bench;
  bench.begin();
  CHECK_FALSE(bench.exchange.answered());
  bench.wsgi.hear("state state=failed cause=exit");
  CHECK(bench.exchange.fault() == Fault::site_unavailable);
  CHECK(bench.call->over());
}

TEST_CASE("wsgi call: a full queue is 503") {
  Bench bench;
  std::vector<RecordingSink> others(100);
  for (RecordingSink& sink : others) bench.wsgi.submit(sink);
  bench.begin();
  CHECK(bench.exchange.fault() == Fault::queue_full);
  for (RecordingSink& sink : others) sink.flight->abandon();
}

TEST_CASE("timeouts.queue: in the queue, or sent and not claimed, for too long is 503") {
  Bench bench;
  FakeWorker& worker = bench.wsgi.start_worker(3);
  if (GENERATE(false, true)) bench.wsgi.hear("leaving worker=3");
  bench.begin();
  bench.pass_in_steps(milliseconds(9'900), milliseconds(100));
  CHECK_FALSE(bench.exchange.answered());
  bench.pass(milliseconds(200));
  CHECK(bench.exchange.fault() == Fault::queue_timeout);
  CHECK_FALSE(worker.begin());  // taken back
}

TEST_CASE("timeouts.queue: does not count while workers start") {
  Bench bench;
  bench.wsgi.hear("state state=starting");
  bench.begin();
  bench.pass_in_steps(seconds(40));
  CHECK_FALSE(bench.exchange.answered());
  bench.wsgi.hear("state state=ready");
  bench.pass_in_steps(seconds(9));
  CHECK_FALSE(bench.exchange.answered());
  bench.pass_in_steps(seconds(2));
  CHECK(bench.exchange.fault() == Fault::queue_timeout);
}

TEST_CASE("timeouts.queue: a start without end counts after a minute") {
  Bench bench;
  bench.wsgi.hear("state state=starting");
  bench.begin();
  bench.pass_in_steps(seconds(69));
  CHECK_FALSE(bench.exchange.answered());
  bench.pass_in_steps(seconds(2));
  CHECK(bench.exchange.fault() == Fault::queue_timeout);
}

TEST_CASE("timeouts.queue: workers that start again and again excuse no more than a minute") {
  Bench bench;
  bench.begin();
  for (int i = 0; i < 36; ++i) {
    bench.wsgi.hear("state state=starting");
    bench.pass(seconds(1));
    bench.wsgi.hear("state state=ready");
    bench.pass(seconds(1));
  }
  CHECK(bench.exchange.fault() == Fault::queue_timeout);
}

TEST_CASE("timeouts.queue: of a record that lay before the workers the supervisor is told") {
  Bench bench;
  bench.wsgi.start_worker(3);
  bench.begin();
  bench.pass_in_steps(seconds(200));
  CHECK(bench.exchange.fault() == Fault::queue_timeout);
  CHECK(bench.wsgi.told == std::vector<std::string>{"unclaimed"});
}

TEST_CASE("timeouts.response: from the claim to the head; 504, and the worker is told") {
  Bench bench;
  FakeWorker& worker = bench.wsgi.start_worker(3);
  bench.begin();
  bench.pass_in_steps(seconds(9));
  const auto taken = worker.begin(bench.now_ns());
  REQUIRE(taken);
  bench.pass_in_steps(seconds(29));
  CHECK_FALSE(bench.exchange.answered());
  bench.pass_in_steps(seconds(2));
  CHECK(bench.exchange.fault() == Fault::response_timeout);
  CHECK_FALSE(bench.wsgi.channels[0]->cells.wanted(taken->record.cell, taken->record.serial));
  CHECK(bench.exchange.trace().upstream == "worker 3");
  REQUIRE(bench.wsgi.told.size() == 1);
  CHECK(bench.wsgi.told[0].starts_with("hanging worker=3 thread=0 tid=0 waited=3"));
  CHECK(bench.wsgi.told[0].find(" method=GET target=/") != std::string::npos);
}

TEST_CASE("timeouts.response: shorter than the time in the queue it is still noticed in time") {
  Bench bench;
  bench.route.timeouts.queue = seconds(120);
  bench.route.timeouts.response = seconds(5);
  FakeWorker& worker = bench.wsgi.start_worker(3);
  bench.begin();
  bench.pass_in_steps(seconds(7));
  REQUIRE(worker.begin(bench.now_ns()));
  bench.pass_in_steps(seconds(4));
  CHECK_FALSE(bench.exchange.answered());
  bench.pass_in_steps(seconds(7));
  CHECK(bench.exchange.fault() == Fault::response_timeout);
}

TEST_CASE("timeouts.response: silence after the head cuts the answer") {
  Bench bench(get, Drive::by_events);
  bench.route.timeouts.response = milliseconds(50);
  FakeWorker& worker = bench.wsgi.start_worker(3);
  bench.begin();
  const auto taken = worker.begin(bench.now_ns());
  worker.send(Frames(*taken).head().data("some").text());
  bench.until([&] { return bench.call->over(); });
  CHECK(bench.pull() == Flow::fail);
  CHECK(bench.body == "some");
  CHECK(bench.error.fault == Fault::response_timeout);
}

TEST_CASE("timeouts.response: does not count while the client holds the answer back") {
  Bench bench(get, Drive::by_events);
  bench.route.timeouts.response = milliseconds(20);
  bench.route.limits.response_buffer = 3;
  FakeWorker& worker = bench.wsgi.start_worker(3);
  bench.begin();
  const auto taken = worker.begin(bench.now_ns());
  worker.send(Frames(*taken).head().data("some").data("more").end().text());
  bench.until([&] { return bench.exchange.answered(); });
  const core::Time later = bench.wsgi.loop.now() + milliseconds(100);
  bench.until([&] { return bench.wsgi.loop.now() > later; });
  CHECK_FALSE(bench.call->over());
  CHECK(bench.pull() == Flow::wait);
  CHECK(bench.body == "some");
  bench.until([&] { return bench.pull() != Flow::wait; });
  CHECK(bench.body == "somemore");
  CHECK(bench.call->over());
}

TEST_CASE("wsgi call: an abort before the head is an error page, after it a cut") {
  const auto [reason, fault] = GENERATE(table<record::AbortReason, Fault>({
      {record::AbortReason::application_error, Fault::application_error},
      {record::AbortReason::bad_response, Fault::application_bad_answer},
      {record::AbortReason::short_body, Fault::application_bad_answer},
      {record::AbortReason::engine_error, Fault::application_error},
  }));
  const bool headed = GENERATE(false, true);
  Bench bench(get, Drive::by_events);
  FakeWorker& worker = bench.wsgi.start_worker(3);
  bench.begin();
  const auto taken = worker.begin();
  Frames frames(*taken);
  if (headed) frames.head();
  worker.send(frames.abort(reason).text());
  bench.until([&] { return bench.call->over(); });
  CHECK(bench.wsgi.app->admission().in_use() == 0);
  if (!headed) CHECK(bench.exchange.fault() == fault);
  if (headed) CHECK(bench.pull() == Flow::fail);
  if (headed) CHECK(bench.error.fault == fault);
}

TEST_CASE("wsgi call: a GET survives one death of a worker, a POST does not") {
  const bool safe = GENERATE(true, false);
  Bench bench(safe ? get : post);
  bench.source.finish(Flow::end);
  FakeWorker& first = bench.wsgi.start_worker(3);
  FakeWorker& second = bench.wsgi.start_worker(4);
  bench.begin();
  REQUIRE(first.begin());
  bench.wsgi.kill_worker(first);
  CHECK(bench.exchange.answered() == !safe);
  if (!safe) CHECK(bench.exchange.fault() == Fault::worker_died);
  if (!safe) CHECK(bench.exchange.trace().upstream == "worker 3");
  CHECK(second.begin().has_value() == safe);
  if (safe) bench.wsgi.kill_worker(second);
  CHECK(bench.exchange.fault() == Fault::worker_died);
}

TEST_CASE("wsgi call: a GET whose head has gone out is cut when its worker dies") {
  Bench bench(get, Drive::by_events);
  FakeWorker& worker = bench.wsgi.start_worker(3);
  bench.begin();
  const auto taken = worker.begin();
  worker.send(Frames(*taken).head().data("some").text());
  bench.until([&] { return bench.exchange.answered(); });
  bench.wsgi.kill_worker(worker);
  CHECK(bench.pull() == Flow::fail);
  CHECK(bench.body == "some");
  CHECK(bench.error.fault == Fault::worker_died);
}

TEST_CASE("wsgi call: the request of a client that has left is never begun") {
  Bench bench;
  FakeWorker& worker = bench.wsgi.start_worker(3);
  const bool sent = GENERATE(false, true);
  if (!sent) bench.wsgi.hear("leaving worker=3");
  bench.begin();
  bench.call->client_finished();
  bench.pass(milliseconds(500));
  CHECK_FALSE(bench.exchange.answered());
  bench.pass(milliseconds(600));
  CHECK(bench.exchange.fault() == Fault::client_gone);
  CHECK_FALSE(worker.begin());
}

TEST_CASE("wsgi call: a client that has only ended its side is answered by a free worker") {
  Bench bench(get, Drive::by_events);
  FakeWorker& worker = bench.wsgi.start_worker(3);
  bench.begin();
  bench.call->client_finished();
  bench.call->client_finished();
  const auto taken = worker.begin(bench.now_ns());
  REQUIRE(taken);
  worker.send(Frames(*taken).head().end().text());
  bench.until([&] { return bench.call->over(); });
  CHECK(bench.exchange.response()->status == 200);
}

TEST_CASE("wsgi call: an answer without a body ends though its body was dropped (HEAD, 204, 304)") {
  Bench bench("HEAD / HTTP/1.1\r\nHost: a.example\r\n\r\n", Drive::by_events);
  FakeWorker& worker = bench.wsgi.start_worker(3);
  bench.begin();
  const auto taken = worker.begin();
  worker.send(Frames(*taken).head(200, 5, record::head_no_body).text());
  bench.until([&] { return bench.exchange.answered(); });
  CHECK(bench.exchange.response()->length == 5u);
  bench.exchange.response_body().reset();
  worker.send(Frames(*taken).end().text());
  bench.until([&] { return bench.call->over(); });
  CHECK(bench.wsgi.app->admission().in_use() == 0);
}

TEST_CASE("wsgi call: a client that drops a full body lets the worker go on") {
  Bench bench(get, Drive::by_events);
  bench.route.limits.response_buffer = 3;
  FakeWorker& worker = bench.wsgi.start_worker(3);
  bench.begin();
  const auto taken = worker.begin();
  worker.send(Frames(*taken).head().data("some").data("more").end().text());
  bench.until([&] { return bench.exchange.answered(); });
  bench.exchange.response_body().reset();
  bench.until([&] { return bench.call->over(); });
  CHECK(bench.wsgi.app->admission().in_use() == 0);
}

TEST_CASE("wsgi call: it may be destroyed at any moment") {
  Bench bench(post, Drive::by_events);
  FakeWorker& worker = bench.wsgi.start_worker(3);
  const int stage = GENERATE(0, 1, 2, 3, 4);
  bench.begin();
  std::optional<Taken> taken;
  if (stage > 0) bench.source.finish(Flow::end);
  if (stage > 1) bench.wsgi.loop.turn();
  if (stage > 2) taken = worker.begin();
  if (stage > 3) {
    worker.send(Frames(*taken).head().data("x").text());
    bench.until([&] { return bench.exchange.answered(); });
  }
  if (stage == 4 && GENERATE(false, true)) bench.exchange.response_body().reset();
  if (stage == 4) bench.exchange.response_body().reset();  // a session drops it before its task
  bench.call.reset();
  CHECK(bench.wsgi.app->admission().in_use() == (stage > 2 ? 1 : 0));
  CHECK_FALSE(worker.begin());
  if (taken) bench.wsgi.kill_worker(worker);
  CHECK(bench.wsgi.app->admission().in_use() == 0);
  CHECK(bench.wsgi.spool.memory_bytes() == 0);
}

TEST_CASE("wsgi call: a body that outlives its task ends with it") {
  Bench bench(get, Drive::by_events);
  FakeWorker& worker = bench.wsgi.start_worker(3);
  bench.begin();
  const auto taken = worker.begin();
  worker.send(Frames(*taken).head().data("x").text());
  bench.until([&] { return bench.exchange.answered(); });
  bench.call.reset();
  CHECK(bench.pull() == Flow::wait);
  bench.exchange.response_body().reset();
}

TEST_CASE("wsgi handler: starts a call with the application's own mount") {
  conf::Application options = WsgiBench::application();
  options.script_name = "/blog";
  WsgiBench wsgi(Drive::by_hand, options);
  FakeWorker& worker = wsgi.start_worker(3);
  auto shared = std::shared_ptr<backend::Application>(&*wsgi.app, [](auto*) {});
  const backend::WsgiHandler handler(shared, conf::Route{});
  FakeExchange exchange("GET /blog/a HTTP/1.1\r\nHost: a.example\r\n\r\n", &wsgi.loop);
  REQUIRE(http::canonicalise(exchange.mutable_request().where, {}));
  const auto task = handler.start(exchange);
  wsgi.loop.turn();
  const auto taken = worker.begin();
  REQUIRE(taken);
  CHECK(taken->record.script_name == "/blog");
  CHECK(taken->record.path_info == "/a");
}
