#include "proxy/serve/pace.h"

#include <catch2/catch.hpp>

namespace portico::serve {
namespace {

using std::chrono::seconds;
constexpr core::Duration window = seconds(30);
constexpr std::uint64_t rate = 64;

TEST_CASE("pace: too little within a window of waiting is too slow") {
  Pace pace;
  const core::Time start{};
  pace.wait(start, 1000);
  CHECK(pace.deadline(window) == start + window);
  CHECK(pace.too_slow(start + window, 1000 + rate * 30 - 1, window, rate));
}

TEST_CASE("pace: enough begins the next window") {
  Pace pace;
  const core::Time start{};
  pace.wait(start, 0);
  CHECK_FALSE(pace.too_slow(start + window, rate * 30, window, rate));
  CHECK(pace.deadline(window) == start + 2 * window);
  CHECK(pace.too_slow(start + 2 * window, rate * 30, window, rate));
}

TEST_CASE("pace: only time of waiting counts") {
  Pace pace;
  const core::Time start{};
  pace.wait(start, 0);
  pace.go_on(start + seconds(10));
  CHECK_FALSE(pace.waiting());
  pace.wait(start + seconds(100), 5);
  CHECK(pace.deadline(window) == start + seconds(120));
  CHECK(pace.too_slow(start + seconds(120), 5, window, rate));
}

TEST_CASE("pace: without a rate at least something must move") {
  Pace pace;
  pace.wait({}, 7);
  CHECK(pace.too_slow(core::Time{} + window, 7, window, 0));
  CHECK_FALSE(pace.too_slow(core::Time{} + window, 8, window, 0));
}

}  // namespace
}  // namespace portico::serve
