// Bases: sites whose zygotes come from one process, with a real Python behind them; and what is
// done where that cannot be.
#include "backend/host/bases.h"

#include "tests/support/service_bench.h"

using namespace portico;
using namespace portico::tests;

namespace {

using backend::BaseKind;
using backend::Launch;

/// A bench whose application shares `module`, which lies beside it.
class SharedBench : public Bench {
 public:
  explicit SharedBench(const std::string& module = "VALUE = 1\n") {
    auto made = std::make_shared<backend::HostOptions>();
    made->engine = std::move(*backend::sealed_copy("engine", backend::engine_image()));
    made->bases = std::make_shared<backend::Bases>(loop);
    host = made;
    write(module);
    options.shared_imports = {"shared_module"};
    options.environment = {{"PYTHONPATH", packages.file("")}};
  }
  ~SharedBench() { end(); }

  void write(const std::string& module) {
    std::ofstream(packages.file("new")) << module;
    std::filesystem::rename(packages.file("new"), packages.file("shared_module.py"));
  }
  pid_t base() { return service->report().base; }
  std::string said() const { return std::string(recent->from(recent->begin(), std::string::npos)); }
  bool is_alone() {
    return until_ready() && base() == 0 && said().find("shares no imports: ") != std::string::npos;
  }

  ScratchDirectory packages;
};

std::vector<std::string> environment_of(std::vector<std::string> variables) {
  return backend::kind_of({}, Launch{{}, std::move(variables)}).environment;
}

}  // namespace

TEST_CASE("bases: of a site's variables only those of an interpreter count, in any order") {
  CHECK(environment_of({"SECRET=1", "TZ=UTC", "PYTHONPATH=/a", "PYTHO=1", "LC_ALL=C", "HOME=/h",
                        "LANG=C", "DJANGO_SETTINGS_MODULE=x", "MALLOC_ARENA_MAX=1"}) ==
        std::vector<std::string>{"HOME=/h", "LANG=C", "LC_ALL=C", "MALLOC_ARENA_MAX=1",
                                 "PYTHONPATH=/a", "TZ=UTC"});
  CHECK(environment_of({"TZ=UTC", "LANG=C"}) == environment_of({"LANG=C", "A=b", "TZ=UTC"}));
}

TEST_CASE("bases: a kind is an interpreter, a user, a list and an environment") {
  conf::Application application;
  application.python = "/usr/bin/python3";
  application.shared_imports = {"a", "b"};
  const Launch launch{process::Identity{1, 2, {}, "one", "/"}, {"TZ=UTC"}};
  const BaseKind kind = backend::kind_of(application, launch);
  CHECK(kind == backend::kind_of(application, launch));
  Launch other = launch;
  SECTION("a user") { other.identity->user = 3; }
  SECTION("groups") { other.identity->groups = {7}; }
  SECTION("a variable") { other.environment = {"TZ=CET"}; }
  SECTION("an order") { application.shared_imports = {"b", "a"}; }
  SECTION("an interpreter") { application.python = "/usr/bin/python4"; }
  CHECK_FALSE(kind == backend::kind_of(application, other));
}

TEST_CASE("bases: a module that a site has in its own directory is found") {
  ScratchDirectory folder;
  conf::Application application;
  application.directory = folder.file("");
  application.directory.pop_back();
  application.shared_imports = {"json", "xml.dom"};
  CHECK(backend::own_module(application).empty());
  std::ofstream(folder.file("dom.py")) << "";
  CHECK(backend::own_module(application).empty());
  SECTION("as a file") {
    std::ofstream(folder.file("json.py")) << "";
    CHECK(backend::own_module(application) == folder.file("json.py"));
  }
  SECTION("as a package") {
    std::filesystem::create_directory(folder.file("xml"));
    CHECK(backend::own_module(application).empty());  // a part of a package of several, at most
    std::ofstream(folder.file("xml/__init__.py")) << "";
    CHECK(backend::own_module(application) == folder.file("xml/__init__.py"));
  }
}

TEST_CASE("bases: a zygote of a base is the supervisor's child, and outlives it") {
  SharedBench bench;
  bench.start();
  REQUIRE(bench.until_ready());
  const pid_t base = bench.base();
  REQUIRE(base > 1);
  CHECK(backend::is_child_of(base, ::getpid()));
  const pid_t zygote = bench.zygote_pid();
  CHECK(backend::is_child_of(zygote, ::getpid()));
  ::kill(base, SIGKILL);
  REQUIRE(bench.until([&] { return bench.base() == 0; }));
  CHECK(bench.zygote_pid() == zygote);
  CHECK(bench.front->count("gone") == 0);
  CHECK(bench.front->last_state() == "ready");
}

TEST_CASE("bases: new code comes from the same base, or from another when a module has changed") {
  SharedBench bench;
  bench.start();
  REQUIRE(bench.until_ready());
  const pid_t base = bench.base();
  const bool changes = GENERATE(true, false);
  if (changes) bench.write("VALUE = 2\n");
  bench.service->deploy(nullptr);
  REQUIRE(bench.until([&] { return bench.front->count("warm") == 1; }));
  bench.service->hear("warmed generation=2 status=200", {});
  REQUIRE(bench.until([&] { return bench.front->count("switch") == 1; }));
  CHECK(bench.base() > 1);
  CHECK((bench.base() == base) == !changes);
}

TEST_CASE("bases: where there can be none, a site runs by itself") {
  const std::string module = GENERATE(
      "import os\nos._exit(3)\n", "raise ValueError('not today')\n",
      "import threading\nthreading.Thread(target=threading.Event().wait, daemon=True).start()\n",
      // one that names a process which is none of its own
      "import os\nos.write(3, b'imported')\nos.write(3, b'born serial=1 pid=1')\n",
      "import os\nos.close(3)\n");
  SharedBench bench(module);
  bench.start();
  CHECK(bench.is_alone());
  CHECK(bench.front->count("state", "failed") == 0);
}

TEST_CASE("bases: one that hangs holds up nobody for long") {
  SharedBench bench("import threading\nthreading.Event().wait()\n");
  bench.options.timeouts.start = seconds(1);
  bench.start();
  CHECK(bench.is_alone());
}

TEST_CASE("bases: a zygote that has not begun can be given up") {
  SharedBench bench("import os, time\nopen(__file__ + '.begun', 'w').close()\ntime.sleep(3600)\n");
  bench.start();
  const std::string begun = bench.packages.file("shared_module.py.begun");
  REQUIRE(bench.until([&] { return std::ifstream(begun).good(); }));
  const core::Time begin = core::Clock::now();
  SECTION("by a stop") { bench.service->front_down(); }
  SECTION("by a stop, with a front") {}
  SECTION("with new code that waits too") { bench.service->deploy(nullptr); }
  bench.service->stop(bench.loop.now() + seconds(20));
  REQUIRE(bench.until([&] { return bench.service->stopped(); }));
  CHECK(core::Clock::now() - begin < seconds(15));
}

TEST_CASE("bases: a new front gets channels of its own for a zygote that has not begun") {
  SharedBench bench(
      "import os, time\nwhile not os.path.exists(__file__ + '.go'): time.sleep(.01)\n");
  bench.start();
  REQUIRE(bench.until([&] { return bench.front->count("queue") == 1; }));
  bench.service->front_down();
  bench.start(2);
  std::ofstream(bench.packages.file("shared_module.py.go")) << "";
  REQUIRE(bench.until_ready());
  CHECK(bench.front->last("queue").number("generation") == 2u);
  CHECK(bench.base() > 1);
}
