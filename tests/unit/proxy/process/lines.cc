#include "proxy/process/lines.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

using portico::core::Time;
using portico::process::LineRules;
using portico::process::Lines;
using namespace std::chrono_literals;

namespace {

struct Collected {
  explicit Collected(LineRules rules = {})
      : lines(rules, [this](std::string_view line) { all.emplace_back(line); }) {}
  std::vector<std::string> all;
  Lines lines;
};

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("lines: every two-way split of a text gives the same lines") {
  const std::string text = "one\ntwo\r\n\nfour, unfinished";
  for (std::size_t at = 0; at <= text.size(); ++at) {
    Collected got;
    got.lines.feed(std::string_view(text).substr(0, at), Time{});
    got.lines.feed(std::string_view(text).substr(at), Time{});
    got.lines.end();
    CHECK(got.all == Texts{"one", "two", "", "four, unfinished"});
  }
}

TEST_CASE("lines: a line that is too long is cut and says so; the next one is whole") {
  Collected got({.line_bytes = 4, .bytes_a_second = 1000});
  got.lines.feed("abcd\nabcde", Time{});
  got.lines.feed("fgh\nxy\n", Time{});
  CHECK(got.all == Texts{"abcd", "abcd [line cut]", "xy"});
}

TEST_CASE("lines: a line without an end costs bounded memory and comes out at the end") {
  Collected got({.line_bytes = 4, .bytes_a_second = 1000});
  for (int i = 0; i < 1000; ++i) got.lines.feed("zzzzzzzz", Time{});
  CHECK(got.all.empty());
  got.lines.end();
  CHECK(got.all == Texts{"zzzz [line cut]"});
}

TEST_CASE("lines: what exceeds the rate is dropped, counted and told in the next second") {
  Collected got({.line_bytes = 100, .bytes_a_second = 8});
  const Time start = Time{} + 1h;
  got.lines.feed("aaa\nbbb\nccc\nddd\n", start);
  CHECK(got.all == Texts{"aaa", "bbb"});
  got.lines.feed("eee\n", start + 1s);
  CHECK(got.all == Texts{"aaa", "bbb", "[2 lines dropped: too many in a second]", "eee"});
}

TEST_CASE("lines: what was dropped last is told at the end") {
  Collected got({.line_bytes = 100, .bytes_a_second = 4});
  got.lines.feed("aaa\nbbb\n", Time{} + 1h);
  got.lines.end();
  CHECK(got.all == Texts{"aaa", "[1 lines dropped: too many in a second]"});
}
