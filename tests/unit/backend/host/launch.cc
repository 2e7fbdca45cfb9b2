// Launch: whom a zygote becomes, what its environment is, and what keeps it from starting.
#include "backend/host/launch.h"

#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>

#include "tests/support/sockets.h"

using namespace portico;
using namespace portico::tests;
using backend::Launch;
using backend::prepare_launch;
using backend::Refusal;

namespace {

struct Bench {
  Bench() { application.directory = folder.file(""); }
  void secrets(const std::string& text) {
    application.environment_file = folder.file("secrets");
    std::ofstream(application.environment_file) << text;
  }
  Launch launch(const std::optional<process::Identity>& usual = {}) const {
    return std::get<Launch>(prepare_launch(application, usual));
  }
  Refusal refusal() const { return std::get<Refusal>(prepare_launch(application, {})); }

  ScratchDirectory folder;
  conf::Application application;
};

std::string value_of(const Launch& launch, const std::string& name) {
  std::string value = "(none)";
  for (const std::string& entry : launch.environment) {
    if (!entry.starts_with(name + "=")) continue;
    CHECK(value == "(none)");  // once
    value = entry.substr(name.size() + 1);
  }
  return value;
}

}  // namespace

TEST_CASE("launch: of our environment only what is the machine's goes along") {
  ::setenv("PORTICO_TEST_SECRET", "x", 1);
  ::setenv("NOTIFY_SOCKET", "/x", 1);
  ::setenv("LC_PORTICO", "y", 1);
  ::setenv("TZ", "UTC", 1);
  const Launch launch = Bench().launch();
  CHECK(value_of(launch, "PORTICO_TEST_SECRET") == "(none)");
  CHECK(value_of(launch, "NOTIFY_SOCKET") == "(none)");
  CHECK(value_of(launch, "LC_PORTICO") == "y");
  CHECK(value_of(launch, "TZ") == "UTC");
  CHECK(value_of(launch, "PATH") == ::getenv("PATH"));
}

TEST_CASE("launch: the site's words come before the file's, and these before ours") {
  Bench bench;
  bench.secrets("A=file\nB=file\nPATH=/file\nHOME=/file\n");
  bench.application.environment = {{"A", "site"}, {"PATH", "/site"}};
  const Launch launch = bench.launch();
  CHECK(value_of(launch, "A") == "site");
  CHECK(value_of(launch, "B") == "file");
  CHECK(value_of(launch, "PATH") == "/site");
  CHECK(value_of(launch, "HOME") == "/file");
}

TEST_CASE("launch: the file is read anew each time") {
  Bench bench;
  bench.secrets("A=1\n");
  CHECK(value_of(bench.launch(), "A") == "1");
  bench.secrets("A=2\n");
  CHECK(value_of(bench.launch(), "A") == "2");
  bench.secrets("hunter2\n");
  CHECK(bench.refusal().cause == "environment");
  CHECK(bench.refusal().reason.find("secrets:1: ") != std::string::npos);
  CHECK(bench.refusal().reason.find("hunter2") == std::string::npos);
}

TEST_CASE("launch: without its directory or its user nothing starts") {
  Bench bench;
  bench.application.user = "no-such-user-here";
  CHECK(bench.refusal().cause == "user");
  CHECK(bench.refusal().reason.find("there is no user \"no-such-user-here\"") != std::string::npos);
  bench.application.directory = "/nonexistent";
  CHECK(bench.refusal().cause == "directory");
}

TEST_CASE("launch: root becomes the site's user, else the usual one; nobody else becomes anybody") {
  Bench bench;
  const process::Identity usual{12, 34, {34}, "usual", "/home/usual"};
  CHECK(bench.launch(usual).identity == usual);
  CHECK(value_of(bench.launch(usual), "HOME") == "/home/usual");
  CHECK_FALSE(bench.launch().identity);
  bench.application.user = ::geteuid() == 0 ? "nobody" : "root";
  if (::geteuid() != 0) {
    CHECK(bench.refusal().reason.find("only root can do") != std::string::npos);
    return;
  }
  const Launch launch = bench.launch(usual);
  CHECK(launch.identity->name == "nobody");
  CHECK(value_of(launch, "USER") == "nobody");
  CHECK(value_of(launch, "LOGNAME") == "nobody");
  CHECK(value_of(launch, "HOME") == launch.identity->home);
}
