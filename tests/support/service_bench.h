// A bench for ApplicationService: a real Python behind it, and a front that the test plays.
#pragma once

#include "backend/host/application_service.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <functional>

#include "backend/host/engine_blob.h"
#include "tests/support/run_loop.h"
#include "tests/support/sockets.h"

namespace portico::tests {

using backend::ApplicationService;
using record::ControlMessage;
using std::chrono::milliseconds;
using std::chrono::seconds;

inline constexpr const char* hello = "def application(environ, start_response):\n    pass\n";

/// The front's side: keeps what it is told, with the descriptors.
class FakeFront final : public process::FrontLink {
 public:
  explicit FakeFront(unsigned threads = 1) : threads_(threads) {}

  struct Told {
    ControlMessage message;
    std::vector<core::Fd> fds;
  };
  void tell(std::string_view service, std::string_view text, std::span<const int> fds) override {
    CHECK(service == "a.example");
    Told one{*record::parse_control(text), {}};
    for (const int fd : fds) one.fds.emplace_back(::fcntl(fd, F_DUPFD_CLOEXEC, 3));
    all.push_back(std::move(one));
  }
  unsigned front_threads() const override { return threads_; }

  std::size_t count(std::string_view verb, std::string_view state = {}) const {
    std::size_t found = 0;
    for (const Told& one : all)
      found += one.message.verb == verb &&
               (state.empty() || one.message.text("state").value_or("") == state);
    return found;
  }
  const ControlMessage& last(std::string_view verb) const {
    for (auto at = all.rbegin(); at != all.rend(); ++at) {
      if (at->message.verb == verb) return at->message;
    }
    throw std::runtime_error("was not told " + std::string(verb));
  }
  std::string last_state() const {
    return std::string(count("state") == 0 ? "" : *last("state").text("state"));
  }

  std::vector<Told> all;

 private:
  unsigned threads_;
};

inline std::shared_ptr<const backend::HostOptions> host_options() {
  static const auto options = [] {
    auto made = std::make_shared<backend::HostOptions>();
    made->engine = std::move(*backend::sealed_copy("engine", backend::engine_image()));
    return made;
  }();
  return options;
}

class Bench {
 public:
  explicit Bench(const std::string& code = hello, unsigned workers = 1) {
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    std::ofstream(folder.file("shop.py")) << code;
    options.name = options.site = "a.example";
    options.reference = "shop";
    options.directory = folder.file("");
    options.python = "/usr/bin/python3";
    options.workers = workers;
  }
  ~Bench() { end(); }

  void start(unsigned front_threads = 1) {
    if (!service) service.emplace(supervisor, options, host, recent);
    front = std::make_unique<FakeFront>(front_threads);
    service->front_up(*front);
  }
  /// Stops the service at once, and waits until no child is left.
  void end() {
    if (service) service->stop(loop.now());
    if (service) until([&] { return service->stopped(); });
    service.reset();
    while (::waitpid(-1, nullptr, 0) > 0) {
    }
  }
  /// Runs the loop, reaping as the supervisor does, until this holds.
  bool until(const std::function<bool()>& holds) {
    Agent* self = nullptr;
    Agent look(loop, [&] {
      reap();
      holds() ? loop.stop() : self->wake();
    });
    self = &look;
    look.wake();
    return run_loop(loop, seconds(30));
  }
  void reap() {
    int status = 0;
    for (pid_t pid; (pid = ::waitpid(-1, &status, WNOHANG)) > 0;) {
      if (!service->child_ended(pid, status)) ++strangers;
    }
  }
  bool until_ready(std::size_t count = 1) {
    return until([&] { return front->count("ready") >= count && front->last_state() == "ready"; });
  }
  pid_t worker_pid() {
    REQUIRE(until([&] { return front->last("ready").number("pid").value_or(0) != 0; }));
    return static_cast<pid_t>(*front->last("ready").number("pid"));
  }
  pid_t zygote_pid() {
    std::ifstream in("/proc/" + std::to_string(worker_pid()) + "/stat");
    std::string text;
    std::getline(in, text);
    return static_cast<pid_t>(std::stol(text.substr(text.rfind(')') + 4)));
  }
  void rewrite(const std::string& code) { std::ofstream(folder.file("shop.py")) << code; }

  core::Loop loop;
  ScratchDirectory folder;
  conf::Application options;
  std::shared_ptr<const backend::HostOptions> host = host_options();
  std::shared_ptr<process::RecentLines> recent = std::make_shared<process::RecentLines>();
  Agent supervisor{loop, [] {}};
  std::unique_ptr<FakeFront> front;
  std::optional<ApplicationService> service;
  int strangers = 0;
};

}  // namespace portico::tests
