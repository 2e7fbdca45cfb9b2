#include "proxy/core/piece.h"

#include <fcntl.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <vector>

#include "proxy/core/result.h"

namespace portico::core {

TEST_CASE("piece: each kind knows its length") {
  CHECK(length(Slice::literal("four")) == 4);
  CHECK(length(FileRange{nullptr, 10, 1ull << 40}) == 1ull << 40);
  PipeLease pipe = lease_pipe();
  pipe->held = 7;
  CHECK(length(PipeRange{std::move(pipe)}) == 7);
}

TEST_CASE("pipe: an empty one is used again, one with bytes in it is closed") {
  PipeLease pipe = lease_pipe();
  REQUIRE(pipe);
  const int number = pipe->read_end.get();
  pipe.reset();
  pipe = lease_pipe();
  CHECK(pipe->read_end.get() == number);
  REQUIRE(::write(pipe->write_end.get(), "x", 1) == 1);
  pipe->held = 1;
  pipe.reset();
  CHECK(::fcntl(number, F_GETFD) == -1);
}

TEST_CASE("pipe: a thread has no more than its share, and keeps few") {
  std::vector<PipeLease> many;
  for (PipeLease pipe = lease_pipe(); pipe; pipe = lease_pipe()) many.push_back(std::move(pipe));
  CHECK(many.size() == 128);
  const int last = many.back()->read_end.get();
  many.clear();
  CHECK(::fcntl(last, F_GETFD) == -1);
  CHECK(lease_pipe());
}

TEST_CASE("fault: every row is complete, and its status fits its side") {
  for (int i = 0; i <= static_cast<int>(Fault::internal); ++i) {
    const FaultInfo& info = fault_info(static_cast<Fault>(i));
    INFO(info.name);
    CHECK(info.fault == static_cast<Fault>(i));
    CHECK_FALSE(info.name.empty());
    if (info.fault == Fault::none) continue;
    CHECK_FALSE(info.sentence.empty());
    CHECK(info.status >= 400);
    if (info.side == Side::endpoint) CHECK(info.status >= 500);
  }
}

TEST_CASE("fault: an error is told with what was being done, and why") {
  CHECK(describe({Fault::endpoint_reset, ECONNRESET, "reading the response head"}) ==
        "endpoint_reset while reading the response head: Connection reset by peer");
  CHECK(describe({Fault::internal, 0, ""}) == "internal");
  CHECK(describe({Fault::internal, 123456, ""}) == "internal: unknown system error");
  CHECK(describe({Fault::internal, 0, "forking"}) == "internal while forking");
  CHECK(describe({Fault::internal, ENOENT, "forking"}) == "forking: No such file or directory");
}

TEST_CASE("result: a value, or the error in its place") {
  Result<std::unique_ptr<int>> value(std::make_unique<int>(5));
  REQUIRE(value);
  CHECK(**value == 5);
  const Result<int> failed(Error{Fault::no_route, 0, "x"});
  REQUIRE_FALSE(failed);
  CHECK(failed.error().fault == Fault::no_route);
  CHECK(Result<void>());
  CHECK_FALSE(Result<void>(Error{Fault::internal, 0, ""}));
}

}  // namespace portico::core
