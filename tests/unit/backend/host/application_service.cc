// ApplicationService with a real Python behind it and a front that the test plays: starts,
// failures, deaths, liars, new fronts, stops.
#include "tests/support/service_bench.h"

using namespace portico;
using namespace portico::tests;

TEST_CASE("service: the front gets queue and cells, each worker's streams, then its readiness") {
  Bench bench(hello, 2);
  bench.options.threads = 3;
  bench.start(2);
  REQUIRE(bench.front->all.size() >= 2);
  CHECK(bench.front->all[0].message.verb == "queue");
  CHECK(bench.front->all[0].fds.size() == 2);
  CHECK(bench.front->last_state() == "starting");
  REQUIRE(bench.until_ready(2));
  CHECK(bench.front->count("worker") == 2);
  for (const FakeFront::Told& told : bench.front->all) {
    if (told.message.verb != "worker") continue;
    CHECK(told.fds.size() == 6);
    CHECK(told.message.number("threads") == 3u);
    CHECK(told.message.number("first") == 0u);
  }
}

TEST_CASE("service: streams beyond one message's descriptors come in several messages") {
  Bench bench;
  bench.options.threads = 5;
  bench.start(100);
  REQUIRE(bench.until([&] { return bench.front->count("worker") == 3; }));
  std::vector<std::pair<std::uint64_t, std::size_t>> parts;
  for (const FakeFront::Told& told : bench.front->all) {
    if (told.message.verb == "worker")
      parts.emplace_back(*told.message.number("first"), told.fds.size());
  }
  CHECK(parts == decltype(parts){{0, 200}, {2, 200}, {4, 100}});
  REQUIRE(bench.until_ready());
}

TEST_CASE("service: an import that fails is told, retried, and mends itself") {
  Bench bench("raise ValueError('not today')\n");
  bench.start();
  REQUIRE(bench.until([&] { return bench.front->last_state() == "failed"; }));
  CHECK(bench.front->last("state").text("cause") == "import");
  CHECK(bench.front->count("worker") == 0);
  bench.rewrite(hello);
  REQUIRE(bench.until_ready());
}

TEST_CASE("service: an interpreter that is held after a failed import is ended") {
  Bench bench(
      "import threading\nthreading.Thread(target=threading.Event().wait).start()\n"
      "raise ValueError('and yet it runs')\n");
  bench.start();
  REQUIRE(bench.until([&] { return bench.front->last_state() == "failed"; }));
  bench.rewrite(hello);
  REQUIRE(bench.until_ready());  // after the grace
}

TEST_CASE("service: what keeps a zygote from starting is its cause") {
  Bench bench;
  std::string cause;
  SECTION("no directory") {
    bench.options.directory = "/nonexistent/site";
    cause = "directory";
  }
  SECTION("no interpreter") {
    bench.options.python = "/nonexistent/python";
    cause = "interpreter";
  }
  SECTION("no Python") {
    bench.options.python = "/bin/false";
    cause = "exit";
  }
  SECTION("death during the import") {
    bench.rewrite("import os\nos._exit(3)\n");
    cause = "exit";
  }
  bench.start();
  REQUIRE(bench.until([&] { return bench.front->last_state() == "failed"; }));
  CHECK(bench.front->last("state").text("cause") == cause);
}

TEST_CASE("service: a worker that is killed is told gone, and replaced") {
  Bench bench(hello, 2);
  bench.start();
  REQUIRE(bench.until_ready(2));
  ::kill(bench.worker_pid(), SIGKILL);
  REQUIRE(bench.until([&] { return bench.front->count("gone") == 1; }));
  CHECK(bench.front->last("gone").text("why") == "was killed by signal 9 (Killed)");
  REQUIRE(bench.until([&] { return bench.front->count("ready") >= 3; }));
  CHECK(bench.front->last_state() == "ready");
}

TEST_CASE("service: the death of the only worker makes the application start anew") {
  Bench bench;
  bench.start();
  REQUIRE(bench.until_ready());
  ::kill(bench.worker_pid(), SIGKILL);
  REQUIRE(bench.until([&] { return bench.front->last_state() == "starting"; }));
  REQUIRE(bench.until([&] { return bench.front->last_state() == "ready"; }));
}

TEST_CASE("service: the death of the zygote takes its workers along, and all comes again") {
  Bench bench(hello, 2);
  bench.start();
  REQUIRE(bench.until_ready(2));
  ::kill(bench.zygote_pid(), SIGKILL);
  REQUIRE(bench.until([&] { return bench.front->count("gone") == 2; }));
  REQUIRE(bench.until([&] { return bench.front->count("worker") == 4; }));
  REQUIRE(bench.until([&] { return bench.front->last_state() == "ready"; }));
}

TEST_CASE("service: a liar is killed, an unknown worker is nobody") {
  Bench bench;
  bench.start();
  REQUIRE(bench.until_ready());
  const pid_t liar = bench.worker_pid();
  bench.service->hear("liar worker=999", {});
  bench.service->hear("liar", {});
  bench.service->hear("\xff", {});
  CHECK(::kill(liar, 0) == 0);
  bench.service->hear("liar worker=" + std::to_string(*bench.front->last("ready").number("worker")),
                      {});
  REQUIRE(bench.until([&] { return bench.front->count("gone") == 1; }));
  REQUIRE(bench.until([&] { return bench.front->count("worker") == 2; }));
}

TEST_CASE("service: a worker that hangs gets a successor at once, and is killed") {
  Bench bench;
  bench.start();
  REQUIRE(bench.until_ready());
  const pid_t hanging = bench.worker_pid();
  const auto number = std::to_string(*bench.front->last("ready").number("worker"));
  bench.service->hear("answered worker=" + number, {});
  ::kill(hanging, SIGSTOP);  // what it cannot hear, nor SIGTERM, nor the end of its sockets
  bench.service->hear("hanging worker=" + number + " thread=0 tid=1 waited=30000", {});
  bench.service->hear("hanging worker=" + number + " thread=0", {});
  CHECK(bench.front->count("leaving") == 1);
  REQUIRE(bench.until([&] { return bench.front->count("ready") == 2; }));
  CHECK(bench.front->count("gone") == 0);
  REQUIRE(bench.until([&] { return bench.front->count("gone") == 1; }));
  CHECK(bench.front->last("gone").text("why") == "was killed by signal 9 (Killed)");
  CHECK(bench.front->count("worker") == 2);
}

TEST_CASE("service: where requests are not taken, a worker that does nothing hangs") {
  Bench bench;
  bench.options.timeouts.queue = seconds(0);
  bench.start();
  REQUIRE(bench.until_ready());
  ::kill(bench.worker_pid(), SIGSTOP);
  bench.service->hear("unclaimed", {});
  bench.service->hear("unclaimed", {});
  CHECK(bench.front->count("leaving") == 1);
  REQUIRE(bench.until([&] { return bench.front->count("gone") == 1; }));
  CHECK(bench.front->last("gone").text("why") == "was killed by signal 9 (Killed)");
  REQUIRE(bench.until_ready(2));
}

TEST_CASE("service: a worker that came after the request is not blamed for it") {
  Bench bench;
  bench.options.timeouts.queue = seconds(60);
  bench.start();
  REQUIRE(bench.until_ready());
  bench.service->hear("unclaimed", {});
  CHECK(bench.front->count("leaving") == 0);
}

TEST_CASE("service: a worker that is never ready is killed, and another one forked") {
  Bench bench(
      "import os, threading\nfirst = [1]\n"
      "os.register_at_fork(before=lambda: first.append(1), after_in_child=lambda: "
      "len(first) > 2 or threading.Event().wait())\n" +
      std::string(hello));
  bench.options.timeouts.start = seconds(2);
  bench.start();
  REQUIRE(bench.until([&] { return bench.front->count("gone") == 1; }));
  CHECK(bench.front->last("gone").text("why") == "was killed by signal 9 (Killed)");
  REQUIRE(bench.until_ready());
}

TEST_CASE("service: a zygote that hangs in its fork is killed, and another one started") {
  Bench bench(
      "import os, threading\n"
      "if not os.path.exists('again'):\n"
      "    os.register_at_fork(before=threading.Event().wait)\n"
      "open('again', 'w').close()\n" +
      std::string(hello));
  bench.options.timeouts.start = seconds(2);
  bench.start();
  REQUIRE(bench.until([&] { return bench.front->count("queue") == 2; }));
  CHECK(bench.front->count("state", "failed") == 0);  // requests wait meanwhile
  REQUIRE(bench.until_ready());
}

TEST_CASE("service: an import without end is killed and tried again") {
  Bench bench("import threading\nthreading.Event().wait()\n");
  bench.options.timeouts.start = milliseconds(500);
  bench.start();
  REQUIRE(bench.until([&] { return bench.front->last_state() == "failed"; }));
  CHECK(bench.front->last("state").text("cause") == "import");
  bench.rewrite(hello);
  bench.options.timeouts.start = seconds(20);
  REQUIRE(bench.until_ready());
}

TEST_CASE("service: a worker that says it leaves, and does not, is killed") {
  Bench bench("import atexit, threading\natexit.register(threading.Event().wait)\n" +
              std::string(hello));
  bench.options.timeouts.response = milliseconds(1);
  bench.start();
  REQUIRE(bench.until_ready());
  const auto number = std::to_string(*bench.front->last("ready").number("worker"));
  bench.service->hear("hanging worker=" + number + " thread=0", {});
  REQUIRE(bench.until([&] { return bench.front->count("gone") == 1; }));
}

TEST_CASE("service: workers that die without an answer are replaced more and more slowly") {
  Bench bench("import os\nos.register_at_fork(after_in_child=lambda: os._exit(1))\n" +
              std::string(hello));
  bench.start();
  const core::Time begin = core::Clock::now();
  REQUIRE(bench.until([&] { return bench.front->count("gone") == 6; }));
  CHECK(core::Clock::now() - begin >= milliseconds(100 + 200 + 400 + 800 + 1600));
}

TEST_CASE("service: who has answered is replaced at once") {
  Bench bench;
  bench.start();
  REQUIRE(bench.until_ready());
  for (std::size_t i = 1; i <= 6; ++i) {  // with back-off: 0.1 + 0.2 + 0.4 + 0.8 + 1.6 s
    const auto number = std::to_string(*bench.front->last("ready").number("worker"));
    bench.service->hear("answered worker=" + number, {});
    const core::Time begin = core::Clock::now();
    ::kill(bench.worker_pid(), SIGKILL);
    REQUIRE(bench.until([&] { return bench.front->count("worker") == i + 1; }));
    CHECK(core::Clock::now() - begin < seconds(1));
    REQUIRE(bench.until([&] { return bench.front->last("ready").number("worker") > i; }));
  }
}

TEST_CASE("service: a fork that fails is tried again later") {
  Bench bench(
      "import os\nreal, tries = os.fork, []\ndef fork():\n    tries.append(1)\n"
      "    if len(tries) < 3: raise OSError(11, 'no')\n    return real()\n"
      "os.fork = fork\n" +
      std::string(hello));
  bench.start();
  REQUIRE(bench.until_ready());
  CHECK(bench.front->count("gone") == 2);
  CHECK(bench.front->last("gone").text("why") == "could not be forked");
}

TEST_CASE("service: a worker that its zygote never told of ends with it") {
  Bench bench("import os\nos.fork = lambda: os.kill(os.getpid(), 9)\n" + std::string(hello));
  bench.start();
  REQUIRE(bench.until([&] { return bench.front->count("gone") >= 2; }));
  CHECK(bench.front->last("gone").text("why") == "ended with its zygote");
  bench.service->stop(bench.loop.now() + seconds(20));
  REQUIRE(bench.until([&] { return bench.service->stopped(); }));
}

TEST_CASE("service: a worker whose end its zygote heard and did not tell is gone with it") {
  Bench bench(
      "import os\nwait = os.waitpid\ndef reap(*of):\n    found = wait(*of)\n"
      "    if found[0]: os._exit(1)\n    return found\nos.waitpid = reap\n" +
      std::string(hello));
  bench.start();
  REQUIRE(bench.until_ready());
  ::kill(bench.worker_pid(), SIGKILL);
  REQUIRE(bench.until([&] { return bench.front->count("gone") == 1; }));
  REQUIRE(bench.until_ready(2));
  CHECK(bench.service->report().workers.size() == 1);
}

TEST_CASE("service: a zygote that talks without end holds nobody else") {
  Bench bench(
      "import sys, socket\ns = socket.socket(fileno=3)\nwhile True: s.send(b'noise a=1')\n");
  bench.start();
  int turns = 0;
  REQUIRE(bench.until([&] { return ++turns > 50; }));
  bench.service->stop(bench.loop.now());
  REQUIRE(bench.until([&] { return bench.service->stopped(); }));
}

TEST_CASE("service: what a zygote says without having the right changes nothing") {
  Bench bench(
      "import socket, os\ns = socket.socket(fileno=os.dup(3))\n"
      "for text in ('forked worker=1 pid=1', 'forked worker=7 pid=1', 'exited worker=9',\n"
      "             'forked', 'ready', '\\xff=', 'stop', 'imported'):\n"
      "    s.send(text.encode('latin-1'))\n" +
      std::string(hello));
  bench.start();
  REQUIRE(bench.until_ready());
  CHECK(bench.worker_pid() > 1);
}

TEST_CASE("service: a process id that is none of the zygote's children is not believed") {
  Bench bench("import os\nreal = os.fork\nos.fork = lambda: real() and os.getppid()\n" +
              std::string(hello));
  bench.start();
  REQUIRE(bench.until([&] { return bench.front->count("ready") > 0; }));
  int turns = 0;
  REQUIRE(bench.until([&] { return ++turns > 200; }));  // the lie has arrived with its worker
  for (const FakeFront::Told& told : bench.front->all)
    CHECK(told.message.number("pid").value_or(0) != static_cast<std::uint64_t>(::getpid()));
}

TEST_CASE("service: a new front gets channels of its own; the earlier workers leave") {
  Bench bench;
  bench.start();
  REQUIRE(bench.until_ready());
  const pid_t before = bench.worker_pid();
  const std::uint64_t first = *bench.front->last("queue").number("generation");
  bench.service->front_down();
  bench.start();
  CHECK(*bench.front->last("queue").number("generation") == first + 1);
  CHECK(bench.front->last_state() == "starting");
  REQUIRE(bench.until_ready());
  CHECK(bench.worker_pid() != before);
  REQUIRE(bench.until([&] { return ::kill(before, 0) != 0; }));
  CHECK(bench.front->count("gone") == 0);  // it was none of this front's
}

TEST_CASE("service: a deploy tells the front of a second queue, warms it and switches") {
  Bench bench;
  bench.start();
  REQUIRE(bench.until_ready());
  const pid_t before = bench.worker_pid();
  bench.service->deploy(nullptr);
  const std::string number = std::to_string(*bench.front->last("queue").number("generation"));
  CHECK(bench.front->last("queue").number("standby") == 1u);
  REQUIRE(bench.until([&] { return bench.front->count("warm") == 1; }));
  CHECK(bench.front->last("warm").text("target") == "/");
  CHECK(bench.front->count("switch") == 0);
  SECTION("an answer is good") {
    bench.service->hear("warmed generation=" + number + " status=404 why=", {});
    REQUIRE(bench.until([&] { return bench.front->count("switch") == 1; }));
    CHECK(::kill(before, 0) == 0);  // it ends with its queue, which is the front's matter
    CHECK(bench.front->last_state() == "ready");
  }
  SECTION("an error of the server is not") {
    bench.service->hear("warmed generation=" + number + " status=500 why=", {});
    REQUIRE(bench.until([&] { return bench.front->count("drop") == 1; }));
    REQUIRE(bench.until([&] { return bench.front->count("gone") == 1; }));
    CHECK(bench.front->count("switch") == 0);
  }
  SECTION("what is said of another generation does not count") {
    bench.service->hear("warmed generation=1 status=500 why=", {});
    bench.service->hear("warmed generation=77 status=200 why=", {});
    CHECK(bench.front->count("switch") + bench.front->count("drop") == 0);
  }
  SECTION("a front that goes ends it") {
    bench.service->front_down();
    bench.start();
    REQUIRE(bench.until_ready());
    CHECK(bench.front->count("queue") == 1);
  }
}

TEST_CASE("service: stops when all have left") {
  Bench bench(hello, 2);
  bench.start();
  REQUIRE(bench.until_ready(2));
  bench.service->stop(bench.loop.now() + seconds(20));
  const core::Time begin = bench.loop.now();
  REQUIRE(bench.until([&] { return bench.service->stopped(); }));
  CHECK(core::Clock::now() - begin < seconds(15));
  CHECK(bench.front->count("worker") == 2);  // none is replaced
}

TEST_CASE("service: what hangs is killed at the deadline of a stop") {
  Bench bench;
  SECTION("an import without end") {
    bench.rewrite("import threading\nthreading.Event().wait()\n");
    bench.start();
  }
  SECTION("a worker without end") {
    bench.rewrite("import atexit, threading\natexit.register(threading.Event().wait)\n" +
                  std::string(hello));
    bench.start();
    REQUIRE(bench.until_ready());
  }
  bench.service->stop(bench.loop.now() + milliseconds(300));
  CHECK_FALSE(bench.service->stopped());
  REQUIRE(bench.until([&] { return bench.service->stopped(); }));
}

TEST_CASE("service: a stop that comes while nothing runs is done at once") {
  Bench bench("raise ValueError\n");
  bench.start();
  REQUIRE(bench.until([&] { return bench.front->last_state() == "failed"; }));
  REQUIRE(bench.until([&] {
    bench.service->stop(bench.loop.now() + seconds(20));
    return bench.service->stopped();
  }));
}

TEST_CASE("service: what has never served and cannot be started is stillborn, what served is not") {
  Bench bench("raise ValueError('not today')\n");
  bench.start();
  REQUIRE(bench.until([&] { return bench.service->is_stillborn(); }));
  CHECK(std::string(bench.recent->from(bench.recent->begin(), std::string::npos))
            .find("ValueError: not today") != std::string::npos);
  bench.rewrite(hello);
  REQUIRE(bench.until_ready(1));
  CHECK_FALSE(bench.service->is_stillborn());
}
