#include "proxy/run/lines_body.h"

#include <catch2/catch.hpp>

#include "tests/support/run_loop.h"

using namespace portico;
using core::Flow;
using run::LinesBody;

namespace {

std::string text(const http::Pull& pulled) {
  return std::string(std::get<core::Slice>(pulled.piece).view());
}

}  // namespace

TEST_CASE("lines body: the last lines, then the end") {
  core::Loop loop(core::Loop::Drive::by_hand);
  tests::Agent reader(loop, [] {});
  process::RecentLines lines;
  for (const char* line : {"one", "two", "three"}) lines.append(line);
  LinesBody body(lines, 2, LinesBody::Follow::no);
  CHECK(text(body.pull(5, reader)) == "two\nt");
  CHECK(text(body.pull(100, reader)) == "hree\n");
  CHECK(body.pull(100, reader).flow == Flow::end);
}

TEST_CASE("lines body: one that follows is woken by the next line") {
  core::Loop loop(core::Loop::Drive::by_hand);
  int woken = 0;
  tests::Agent reader(loop, [&] { ++woken; });
  process::RecentLines lines;
  LinesBody body(lines, 10, LinesBody::Follow::yes);
  CHECK(body.pull(100, reader).flow == Flow::wait);
  lines.append("new");
  loop.turn();
  CHECK(woken == 1);
  CHECK(text(body.pull(100, reader)) == "new\n");
  CHECK(body.pull(100, reader).flow == Flow::wait);
}

TEST_CASE("lines body: a reader that is too slow is told what it missed") {
  core::Loop loop(core::Loop::Drive::by_hand);
  tests::Agent reader(loop, [] {});
  process::RecentLines lines;
  LinesBody body(lines, 10, LinesBody::Follow::yes);
  const std::string line(999, 'x');
  for (int i = 0; i < 1000; ++i) lines.append(line);
  const auto missed = lines.begin();
  CHECK(text(body.pull(100, reader)) ==
        "\nportico: " + std::to_string(missed) + " bytes missed: too slow\n");
  CHECK(text(body.pull(2000, reader)).substr(0, 1000) == line + "\n");
}
