// EmbeddedService with a real probe, and a front with an interpreter that the test plays.
#include "backend/host/embedded_service.h"

#include <sys/wait.h>

#include <catch2/catch.hpp>
#include <functional>

#include "backend/host/engine_blob.h"
#include "tests/support/run_loop.h"
#include "tests/support/sockets.h"

using namespace portico;
using namespace portico::tests;
using backend::EmbeddedService;
using record::ControlMessage;

namespace {

class Bench final : public process::FrontLink {
 public:
  Bench() {
    options.name = options.site = "a.example";
    options.reference = "shop";
    options.directory = folder.file("");
    options.python = "/usr/bin/python3";
    options.embedded = true;
    auto host = std::make_shared<backend::HostOptions>();
    host->engine = std::move(*backend::sealed_copy("engine", backend::engine_image()));
    service.emplace(supervisor, options, std::move(host), recent);
  }
  ~Bench() override {
    service->stop(loop.now());
    until([&] { return service->stopped(); });
  }

  void tell(std::string_view, std::string_view text, std::span<const int> fds) override {
    const auto message = *record::parse_control(text);
    told.push_back(message);
    if (message.verb == "embed") {
      plan = message;
      interpreter.emplace(ears, core::Fd(::fcntl(fds[0], F_DUPFD_CLOEXEC, 3)));
    }
  }
  unsigned front_threads() const override { return 2; }

  bool until(const std::function<bool()>& holds) {
    Agent* self = nullptr;
    Agent look(loop, [&] {
      int status = 0;
      for (pid_t pid; (pid = ::waitpid(-1, &status, WNOHANG)) > 0;)
        CHECK(service->child_ended(pid, status));
      holds() ? loop.stop() : self->wake();
    });
    self = &look;
    look.wake();
    return run_loop(loop);
  }
  std::size_t count(std::string_view verb) const {
    return static_cast<std::size_t>(std::count_if(
        told.begin(), told.end(), [&](const auto& message) { return message.verb == verb; }));
  }
  std::string state() const {
    std::string last;
    for (const auto& message : told)
      if (message.verb == "state") last = *message.text("state");
    return last;
  }
  /// What the supervisor says next to the interpreter.
  net::Message heard() {
    std::optional<net::Message> message;
    REQUIRE(until([&] {
      auto received = interpreter->receive();
      if (received) message = std::move(*received);
      return message.has_value();
    }));
    return std::move(*message);
  }
  void start() {
    service->front_up(*this);
    REQUIRE(until([&] { return plan.has_value(); }));
  }

  core::Loop loop;
  ScratchDirectory folder;
  conf::Application options;
  Agent supervisor{loop, [] {}};
  Agent ears{loop, [] {}};
  std::shared_ptr<process::RecentLines> recent = std::make_shared<process::RecentLines>();
  std::optional<EmbeddedService> service;
  std::vector<ControlMessage> told;
  std::optional<ControlMessage> plan;
  std::optional<net::Channel> interpreter;
};

}  // namespace

TEST_CASE("embedded: the front gets both ends of everything, and the library to load") {
  Bench bench;
  bench.start();
  CHECK(bench.state() == "starting");
  CHECK(bench.count("queue") == 1);
  CHECK(bench.count("worker") == 1);
  CHECK(bench.plan->text("python") == "/usr/bin/python3");
  CHECK(bench.plan->text("library")->find("libpython3") != std::string_view::npos);
  CHECK(bench.plan->text("boot") == backend::boot_source());
  const net::Message message = bench.heard();
  const auto setup = record::parse_control(message.text);
  CHECK(setup->verb == "setup");
  CHECK(setup->number("embedded") == 1u);
  CHECK(setup->number("multiprocess") == 0u);
  CHECK(message.fds.size() == 3 + 2);  // queue, cells, output; a stream for each front thread
  bench.interpreter->send("imported pid=42");
  bench.interpreter->send("ready");
  REQUIRE(bench.until([&] { return bench.state() == "ready"; }));
  CHECK(bench.count("ready") == 1);
}

TEST_CASE("embedded: an import that failed is told, and tried again in the same interpreter") {
  Bench bench;
  bench.start();
  bench.heard();
  bench.interpreter->send("failed reason=no");
  REQUIRE(bench.until([&] { return bench.state() == "failed"; }));
  CHECK(bench.heard().text == "again");
  bench.interpreter->send("ready");
  REQUIRE(bench.until([&] { return bench.state() == "ready"; }));
  CHECK(bench.count("embed") == 1);
}

TEST_CASE("embedded: what the front cannot load is told, and the library is looked for again") {
  Bench bench;
  bench.start();
  bench.service->hear("unembedded reason=no%20such%20file", {});
  CHECK(bench.state() == "failed");
  REQUIRE(bench.until([&] { return bench.count("embed") == 2; }));
}

TEST_CASE("embedded: a new front gets channels of its own") {
  Bench bench;
  bench.start();
  bench.service->front_down();
  bench.service->front_up(bench);
  REQUIRE(bench.until([&] { return bench.count("embed") == 2; }));
  CHECK(bench.count("queue") == 2);
}
