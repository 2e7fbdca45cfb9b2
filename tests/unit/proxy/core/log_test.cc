#include "proxy/core/log.h"

#include <fcntl.h>
#include <unistd.h>

#include <catch2/catch.hpp>
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

std::string escaped(std::string_view text) {
  std::string out;
  append_escaped(out, text);
  return out;
}

}  // namespace

TEST_CASE("log: what must not stand raw is escaped, byte by byte") {
  CHECK(escaped("plain text, caf\xc3\xa9 \xe4\xb8\xad \xf0\x9f\x98\x80") ==
        "plain text, caf\xc3\xa9 \xe4\xb8\xad \xf0\x9f\x98\x80");
  CHECK(escaped("a\"b\\c") == "a\"b\\c");  // a traceback quotes file names
  CHECK(escaped("one\r\ntwo\t") == "one\\x0d\\x0atwo\\x09");
  CHECK(escaped(std::string_view("\0\x1b[31m\x7f", 7)) == "\\x00\\x1b[31m\\x7f");
}

TEST_CASE("log: C1 controls, marks of direction and line separators are escaped") {
  CHECK(escaped("\xc2\x9b"
                "31m") == "\\xc2\\x9b31m");  // CSI
  CHECK(escaped("a\xe2\x80\xae"
                "b") == "a\\xe2\\x80\\xaeb");                             // U+202E
  CHECK(escaped("\xe2\x81\xa6") == "\\xe2\\x81\\xa6");                    // U+2066
  CHECK(escaped("\xe2\x80\xa8") == "\\xe2\\x80\\xa8");                    // U+2028
  CHECK(escaped("\xe2\x80\x8f\xd8\x9c") == "\\xe2\\x80\\x8f\\xd8\\x9c");  // U+200F, U+061C
  CHECK(escaped("\xe2\x80\x93\xc2\xa0") == "\xe2\x80\x93\xc2\xa0");       // a dash, a space
}

TEST_CASE("log: bytes that are not UTF-8 are escaped (RFC 3629)") {
  CHECK(escaped("\x9b") == "\\x9b");
  CHECK(escaped("\xc3") == "\\xc3");
  CHECK(escaped("\xc3(") == "\\xc3(");
  CHECK(escaped("\xc0\xaf") == "\\xc0\\xaf");                    // overlong
  CHECK(escaped("\xe0\x80\xaf") == "\\xe0\\x80\\xaf");           // overlong
  CHECK(escaped("\xed\xa0\x80") == "\\xed\\xa0\\x80");           // a surrogate
  CHECK(escaped("\xf4\x90\x80\x80") == "\\xf4\\x90\\x80\\x80");  // beyond U+10FFFF
  CHECK(escaped("\xff") == "\\xff");
}

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

}  // namespace portico::core
