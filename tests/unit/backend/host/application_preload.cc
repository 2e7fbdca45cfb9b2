// ApplicationService without preload: workers that import by themselves, wanted so or because a
// fork would break what the import has left.
#include "tests/support/service_bench.h"

using namespace portico;
using namespace portico::tests;

namespace {

const std::string threaded =
    "import threading\nthreading.Thread(target=threading.Event().wait, daemon=True).start()\n";

std::string said(const Bench& bench) {
  return std::string(bench.recent->from(bench.recent->begin(), std::string::npos));
}

}  // namespace

TEST_CASE("preload: without it the first worker imports alone, then the others") {
  Bench bench(hello, 3);
  bench.options.preload = conf::Preload::never;
  bench.start();
  REQUIRE(bench.until_ready(3));
  std::string order;
  for (const FakeFront::Told& told : bench.front->all)
    if (told.message.verb == "worker" || told.message.verb == "ready")
      order += told.message.verb + " " + std::string(*told.message.text("worker")) + "\n";
  CHECK(order.starts_with("worker 1\nready 1\nworker 2\nworker 3\n"));
  CHECK(bench.front->count("worker") == 3);
  CHECK_FALSE(bench.service->report().preloads);
}

TEST_CASE("preload: an import that fails in a worker fails the site, and is tried anew") {
  Bench bench;
  bench.options.preload = conf::Preload::never;
  std::string cause = "import";
  SECTION("by an exception") { bench.rewrite("raise ValueError('not today')\n"); }
  SECTION("by a death") {
    bench.rewrite("import os\nos._exit(3)\n");
    cause = "exit";
  }
  SECTION("without end") {
    bench.rewrite("import threading\nthreading.Event().wait()\n");
    bench.options.timeouts.start = milliseconds(500);
  }
  SECTION("and is held by a thread") {
    bench.rewrite(
        "import threading\nthreading.Thread(target=threading.Event().wait).start()\nraise "
        "ValueError\n");
  }
  bench.start();
  REQUIRE(bench.until([&] { return bench.front->last_state() == "failed"; }));
  CHECK(bench.front->last("state").text("cause") == cause);
  CHECK(bench.service->report().state == process::ServiceReport::State::failed);
  bench.rewrite(hello);
  REQUIRE(bench.until([&] { return bench.front->last_state() == "ready"; }));
  CHECK(bench.front->count("queue") >= 2);  // another release: where the code lies is asked anew
}

TEST_CASE("preload: one worker's failed import is that worker's matter while others serve") {
  Bench bench(
      std::string("import os\nif os.path.exists('broken'): raise ValueError('now')\n") + hello, 2);
  bench.options.preload = conf::Preload::never;
  bench.start();
  REQUIRE(bench.until_ready(2));
  std::ofstream(bench.folder.file("broken")) << "";
  ::kill(bench.worker_pid(), SIGKILL);
  REQUIRE(bench.until([&] { return bench.front->count("gone") >= 2; }));
  CHECK(bench.front->last_state() == "ready");
  CHECK(said(bench).find("could not import shop: ValueError: now") != std::string::npos);
  ::unlink(bench.folder.file("broken").c_str());
  REQUIRE(bench.until_ready(3));
}

TEST_CASE(
    "preload: where the import leaves a thread, another zygote takes the place of the first") {
  Bench bench(threaded + hello, 2);
  bench.start();
  REQUIRE(bench.until_ready(2));
  CHECK(bench.front->count("queue") == 1);
  CHECK(bench.front->count("state", "failed") == 0);
  CHECK_FALSE(bench.service->report().preloads);
  CHECK(said(bench).find("leaves behind the thread Thread-1") != std::string::npos);
  REQUIRE(bench.until([&] { return bench.strangers == 1; }));  // the first one, which was ended
  ::kill(bench.zygote_pid(), SIGKILL);
  REQUIRE(bench.until([&] { return bench.front->count("queue") == 2; }));
  REQUIRE(bench.until([&] { return bench.front->last_state() == "ready"; }));
  CHECK(bench.service->report().troubles.size() <= 4);
  CHECK(said(bench).find("leaves behind") == said(bench).rfind("leaves behind"));
}

TEST_CASE("preload: always forks from an import that left a thread, and says what that means") {
  Bench bench(threaded + hello, 2);
  bench.options.preload = conf::Preload::always;
  bench.start();
  REQUIRE(bench.until_ready(2));
  CHECK(bench.service->report().preloads);
  CHECK(bench.strangers == 0);
  CHECK(said(bench).find("leaves behind the thread Thread-1") != std::string::npos);
  CHECK(said(bench).find("forked all the same (preload: always)") != std::string::npos);
}

TEST_CASE("preload: a worker of a preloaded zygote cannot say that an import failed") {
  Bench bench(
      "import os, socket\n"
      "def lie():\n    for fd in range(4, 40):\n        try: "
      "socket.socket(fileno=os.dup(fd)).send(b'failed reason=lie')\n"
      "        except OSError: pass\n"
      "os.register_at_fork(after_in_child=lie)\n" +
      std::string(hello));
  bench.start();
  REQUIRE(bench.until([&] { return bench.front->count("worker") > 0; }));
  int turns = 0;
  REQUIRE(bench.until([&] { return ++turns > 300; }));
  CHECK(said(bench).find("importing shop failed") == std::string::npos);
}

TEST_CASE("preload: a stop ends imports at once") {
  Bench bench("import threading\nopen('begun', 'w').close()\nthreading.Event().wait()\n");
  bench.options.preload = GENERATE(conf::Preload::if_safe, conf::Preload::never);
  bench.start();
  REQUIRE(bench.until([&] { return std::ifstream(bench.folder.file("begun")).good(); }));
  const core::Time begin = core::Clock::now();
  bench.service->front_down();
  bench.service->stop(bench.loop.now() + seconds(20));
  REQUIRE(bench.until([&] { return bench.service->stopped(); }));
  CHECK(core::Clock::now() - begin < seconds(15));
}
