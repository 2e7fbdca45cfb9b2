#include "proxy/run/front_report.h"

#include <catch2/catch.hpp>

#include "proxy/run/front_reports.h"
#include "tests/support/run_loop.h"

using namespace portico;
using namespace portico::run;

namespace {

FrontReport example() {
  FrontReport report;
  report.sites.push_back({"a.example", {0, 1, 2, 3, 4, 5}});
  report.endpoints.push_back({"a.example/x y/", "unix:/run/a b.sock", "probes", 7});
  report.applications.push_back({"a.example/blog/", false});
  report.workers.push_back({"a.example/blog/", 3, 1ull << 40});
  return report;
}

}  // namespace

TEST_CASE("front report: what is written is read") {
  const std::string text = format_report(example());
  const FrontReport read = parse_report(text);
  REQUIRE(read.sites.size() == 1);
  CHECK(read.sites[0].by_class[5] == 5);
  REQUIRE(read.endpoints.size() == 1);
  CHECK(read.endpoints[0].address == "unix:/run/a b.sock");
  CHECK(read.endpoints[0].running == 7);
  REQUIRE(read.applications.size() == 1);
  CHECK_FALSE(read.applications[0].healthy);
  REQUIRE(read.workers.size() == 1);
  CHECK(read.workers[0].requests == 1ull << 40);
  CHECK(format_report(read) == text);
}

TEST_CASE("front report: what does not fit is left out") {
  for (const char* text : {"", "\n\n", "site\ta", "site\ta\t1", "endpoint\ta\tb\tc", "worker\ta\t1",
                           "nonsense\ta\tb\tc\td", "\t\t\t\t\t\t\t\t"}) {
    const FrontReport read = parse_report(text);
    CHECK(read.sites.size() + read.endpoints.size() + read.workers.size() == 0);
  }
  CHECK(parse_report("worker\ta\tx\t-1").workers[0].requests == 0);
}

TEST_CASE("front reports: an answer counts for its question and those before it") {
  core::Loop loop(core::Loop::Drive::by_hand);
  int woken = 0;
  tests::Agent reader(loop, [&] { ++woken; });
  std::vector<std::uint64_t> asked;
  bool there = true;
  FrontReports reports([&](std::uint64_t serial) {
    asked.push_back(serial);
    return there;
  });
  core::Bell::Hearer hearer;
  const auto first = reports.ask(hearer, reader);
  const auto second = reports.ask(hearer, reader);
  CHECK(asked == std::vector<std::uint64_t>{first, second});
  CHECK(reports.answer(first) == nullptr);
  reports.answered(std::to_string(first), "");
  loop.turn();
  CHECK(woken == 1);
  CHECK(reports.answer(first) != nullptr);
  CHECK(reports.answer(second) == nullptr);
  reports.answered("99", "");  // was never asked
  CHECK(reports.answer(second) == nullptr);
  reports.front_ended();
  CHECK(reports.answer(first) == nullptr);
  there = false;
  CHECK(reports.ask(hearer, reader) == 0);
}

TEST_CASE("front reports: a front that does not answer is not asked without end") {
  core::Loop loop(core::Loop::Drive::by_hand);
  tests::Agent reader(loop, [] {});
  int asked = 0;
  FrontReports reports([&](std::uint64_t) { return ++asked > 0; });
  core::Bell::Hearer hearer;
  for (int i = 0; i < 100; ++i) CHECK(reports.ask(hearer, reader) != 0);
  CHECK(asked == 16);
}
