#include "proxy/route/access_log.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "proxy/route/log_files.h"
#include "tests/support/fake_exchange.h"

namespace portico::route {
namespace {

using tests::FakeExchange;

// A directory of its own, removed with what a test puts there.
class Directory {
 public:
  Directory() { REQUIRE(::mkdtemp(name_.data()) != nullptr); }
  ~Directory() {
    for (const char* file : {"/a.log", "/b.log"}) ::unlink((name_ + file).c_str());
    ::rmdir(name_.c_str());
  }
  std::string file(const std::string& name) const { return name_ + "/" + name; }

 private:
  std::string name_ = "/tmp/portico-test-XXXXXX";
};

std::string contents(const std::string& path) {
  std::ifstream in(path);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

core::Fd opened(const std::string& path) {
  return core::Fd(::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600));
}

}  // namespace

TEST_CASE("access log: a line for each exchange, and the site's counts") {
  const Directory directory;
  LogFiles files;
  Counters counters;
  FakeExchange exchange("GET /x HTTP/1.1\r\nHost: a\r\n\r\n");
  exchange.trace().status = 200;
  {
    const AccessLog log(files.file(directory.file("a.log")), conf::LogFormat::common,
                        counters.of("a"));
    log.finished(exchange);
    exchange.trace().status = 404;
    log.finished(exchange);
  }
  const std::string text = contents(directory.file("a.log"));
  CHECK(text.find("\"GET /x HTTP/1.1\" 200 -\n") != std::string::npos);
  CHECK(text.ends_with("\"GET /x HTTP/1.1\" 404 -\n"));
  CHECK(counters.of("a").by_class[2] == 1);
  CHECK(counters.of("a").by_class[4] == 1);
}

TEST_CASE("access log: off writes nothing, and counts all the same") {
  LogFiles files;
  Counters counters;
  CHECK(files.file("off") == nullptr);
  const AccessLog log(nullptr, conf::LogFormat::combined, counters.of("a"));
  FakeExchange exchange("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  exchange.trace().status = 200;
  log.finished(exchange);
  CHECK(counters.of("a").by_class[2] == 1);
}

TEST_CASE("log files: one path is one file, from one snapshot to the next") {
  const Directory directory;
  LogFiles files;
  auto first = files.file(directory.file("a.log"));
  CHECK(files.file(directory.file("a.log")) == first);
  CHECK(files.file(directory.file("b.log")) != first);
}

TEST_CASE("log files: a descriptor from outside serves instead of opening the path") {
  const Directory directory;
  LogFiles files;
  files.adopt("/nowhere/at/all.log", opened(directory.file("a.log")));
  files.file("/nowhere/at/all.log")->write("first");
  CHECK(contents(directory.file("a.log")) == "first\n");
}

TEST_CASE("log files: a descriptor for a file in use takes its place") {
  const Directory directory;
  LogFiles files;
  auto file = files.file(directory.file("a.log"));
  files.adopt(directory.file("a.log"), opened(directory.file("b.log")));
  file->write("second");
  file.reset();
  CHECK(contents(directory.file("a.log")).empty());
  CHECK(contents(directory.file("b.log")) == "second\n");
}

TEST_CASE("log files: after a rotation lines go to the path again (USR1)") {
  const Directory directory;
  LogFiles files;
  auto file = files.file(directory.file("a.log"));
  REQUIRE(::rename(directory.file("a.log").c_str(), directory.file("b.log").c_str()) == 0);
  files.reopen();
  file->write("after");
  file.reset();
  CHECK(contents(directory.file("a.log")) == "after\n");
  CHECK(contents(directory.file("b.log")).empty());
}

TEST_CASE("log files: a file that cannot be opened loses its lines and nothing else") {
  LogFiles files;
  auto file = files.file("/nowhere/at/all.log");
  file->write("lost");
  files.reopen();
  file->write("lost");
}

}  // namespace portico::route
