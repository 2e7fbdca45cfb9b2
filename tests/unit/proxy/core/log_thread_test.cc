#include "proxy/core/log_thread.h"

#include <fcntl.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <string>
#include <thread>

#include "proxy/core/log.h"

namespace portico::core {
namespace {

/// Standard error is a pipe for as long as this lives; the reader is the test.
class PipedErrors {
 public:
  PipedErrors() : kept_(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3)) {
    int ends[2];
    REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    read_end = Fd(ends[0]);
    ::dup2(ends[1], STDERR_FILENO);
    ::close(ends[1]);
  }
  ~PipedErrors() { restore(); }

  void restore() {
    if (kept_) ::dup2(kept_.get(), STDERR_FILENO);
    kept_.reset();
  }
  /// Reads to the end of the pipe.
  std::string rest() {
    std::string text;
    std::string bytes(1 << 16, '\0');
    for (ssize_t got = 0; (got = ::read(read_end.get(), bytes.data(), bytes.size())) > 0;)
      text.append(bytes, 0, static_cast<std::size_t>(got));
    return text;
  }

  Fd read_end;

 private:
  Fd kept_;
};

}  // namespace

TEST_CASE("log thread: what is said while it lives arrives in order before it is gone") {
  PipedErrors errors;
  {
    const LogThread thread;
    log(Level::info, "one");
    log(Level::error, "two");
  }
  log(Level::info, "three");  // as ever
  errors.restore();
  const std::string text = errors.rest();
  CHECK(text.find("info one\n") < text.find("error two\n"));
  CHECK(text.find("error two\n") < text.find("info three\n"));
}

TEST_CASE("log thread: a reader that does not read stalls nobody; what is lost is counted") {
  PipedErrors errors;
  std::string text;
  std::thread reader;
  {
    const LogThread thread;
    for (int i = 0; i < 5000; ++i) log(Level::info, std::string(1000, 'x'));  // 5 MB at once
    reader = std::thread([&] { text = errors.rest(); });
  }
  errors.restore();
  reader.join();
  CHECK(text.find(" lines lost\n") != std::string::npos);
  CHECK(text.find("warning log on standard error is written again, ") != std::string::npos);
}

}  // namespace portico::core
