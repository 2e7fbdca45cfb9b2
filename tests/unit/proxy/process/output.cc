#include "proxy/process/output.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <string>
#include <vector>

using namespace portico;
using process::Output;

namespace {

/// Owns an output and stops the loop when it has ended.
struct Reader final : core::Active {
  explicit Reader(core::Loop& of) : Active(of) {}
  void advance() override {
    if (output != nullptr && output->ended()) loop().stop();
  }
  std::unique_ptr<Output> output;
};

}  // namespace

TEST_CASE("output: lines arrive in order, the unfinished one at the end of file") {
  core::Loop loop;
  Reader reader(loop);
  auto ends = Output::pipe();
  REQUIRE(ends);
  std::vector<std::string> lines;
  reader.output = std::make_unique<Output>(
      reader, std::move(ends->ours), [&](std::string_view line) { lines.emplace_back(line); });
  const std::string text = "first\nsecond\nlast";
  REQUIRE(::write(ends->childs.get(), text.data(), text.size()) == ssize_t(text.size()));
  ends->childs.reset();
  loop.run();
  CHECK(lines == std::vector<std::string>{"first", "second", "last"});
}

TEST_CASE("output: destroying it before the end of file keeps the unfinished line") {
  core::Loop loop;
  Reader reader(loop);
  auto ends = Output::pipe();
  REQUIRE(ends);
  std::vector<std::string> lines;
  reader.output =
      std::make_unique<Output>(reader, std::move(ends->ours), [&](std::string_view line) {
        lines.emplace_back(line);
        loop.stop();
      });
  REQUIRE(::write(ends->childs.get(), "whole\npart", 10) == 10);
  loop.run();
  reader.output.reset();
  CHECK(lines == std::vector<std::string>{"whole", "part"});
}
