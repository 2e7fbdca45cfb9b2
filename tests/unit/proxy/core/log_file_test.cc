#include "proxy/core/log_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <fstream>
#include <sstream>
#include <thread>

#include "tests/support/sockets.h"

namespace portico::core {
namespace {

std::string content(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream out;
  out << file.rdbuf();
  return out.str();
}

}  // namespace

TEST_CASE("log file: lines of all threads arrive whole, before it is gone") {
  const tests::ScratchDirectory scratch;
  {
    LogFile log(scratch.file("access.log"));
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&log] {
        for (int line = 0; line < 1000; ++line) log.write("a line of some length");
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  std::istringstream lines(content(scratch.file("access.log")));
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count)
    REQUIRE(line == "a line of some length");
  CHECK(count == 4000);
}

TEST_CASE("log file: after a rotation a new file is written") {
  const tests::ScratchDirectory scratch;
  const std::string path = scratch.file("access.log");
  {
    LogFile log(path);
    log.write("before");
    while (content(path).empty()) std::this_thread::yield();
    ::rename(path.c_str(), scratch.file("access.log.1").c_str());
    log.reopen();
    log.write("after");
  }
  CHECK(content(scratch.file("access.log.1")) == "before\n");
  CHECK(content(path) == "after\n");
}

TEST_CASE("log file: a rotation without a next line is carried out too") {
  const tests::ScratchDirectory scratch;
  const std::string path = scratch.file("access.log");
  LogFile log(path);
  ::rename(path.c_str(), scratch.file("access.log.1").c_str());
  log.reopen();
  CHECK(::access(path.c_str(), F_OK) == 0);
}

TEST_CASE("log file: a stuck disk never stalls the writer; what is lost is counted and told") {
  int ends[2];
  REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
  Fd read_end(ends[0]);
  std::string text;
  const std::string line(1000, 'x');
  {
    LogFile log("-", Fd(ends[1]));
    for (int i = 0; i < 5000; ++i) log.write(line);  // the pipe takes 64 KiB, the queue 1 MiB
    CHECK(log.dropped() > 0);
    std::thread reader([&] {
      std::string bytes(1 << 16, '\0');
      for (ssize_t got = 1; got > 0;) {
        got = ::read(read_end.get(), bytes.data(), bytes.size());
        if (got > 0) text.append(bytes, 0, static_cast<std::size_t>(got));
        if (text.find(" lines lost\n") != std::string::npos) break;
      }
      read_end.reset();
    });
    reader.join();
  }
  CHECK(text.find(" lines lost\n") != std::string::npos);
}

TEST_CASE("log file: a full disk loses lines, counts them, and goes on") {
  const Fd full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  if (!full) return;
  LogFile log("-", Fd(::fcntl(full.get(), F_DUPFD_CLOEXEC, 0)));
  log.write("lost");
  while (log.dropped() == 0) std::this_thread::yield();
  CHECK(log.dropped() == 1);
  log.write("lost too");  // with a line of our own that tells of the first
  while (log.dropped() == 1) std::this_thread::yield();
  CHECK(log.dropped() == 2);
}

TEST_CASE("log file: its end waits a second for a reader that does not read, no longer") {
  int ends[2];
  REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
  const Fd read_end(ends[0]);
  const auto begin = std::chrono::steady_clock::now();
  {
    LogFile log("-", Fd(ends[1]));
    for (int i = 0; i < 200; ++i) log.write(std::string(1000, 'x'));
  }
  const auto took = std::chrono::steady_clock::now() - begin;
  CHECK(took >= std::chrono::milliseconds(900));
  CHECK(took < std::chrono::seconds(20));
}

}  // namespace portico::core
