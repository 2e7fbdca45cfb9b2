// The order in which the policies choose: exact where it is exact, fair within bounds elsewhere.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <vector>

#include "balancer/least_requests.h"
#include "balancer/round_robin.h"

namespace portico::balancer {
namespace {

std::vector<Option> options(std::initializer_list<unsigned> weights) {
  std::vector<Option> made;
  for (const unsigned weight : weights) made.push_back({made.size(), weight, 0});
  return made;
}

// The chosen members as letters: 0 is a.
std::string chosen(Policy& policy, const std::vector<Option>& from, int times) {
  std::string letters;
  for (int i = 0; i < times; ++i)
    letters += static_cast<char>('a' + from[policy.choose(from, 0)].member);
  return letters;
}

TEST_CASE("round robin: smooth by weight, the exact sequences") {
  struct Row {
    std::vector<Option> from;
    std::string expected;
  };
  const Row rows[] = {
      {options({1, 1, 1}), "abcabc"}, {options({5, 1, 1}), "aabacaaaabacaa"},
      {options({2, 1}), "abaaba"},    {options({3, 2, 1}), "abacbaabacba"},
      {options({4, 2}), "abaaba"},    {options({7}), "aaa"},
  };
  for (const Row& row : rows) {
    RoundRobin policy(row.from.size());
    CHECK(chosen(policy, row.from, static_cast<int>(row.expected.size())) == row.expected);
  }
}

TEST_CASE("round robin: over any full round each gets exactly its weight") {
  std::mt19937 random(7);
  for (int trial = 0; trial < 50; ++trial) {
    std::vector<Option> from;
    unsigned total = 0;
    const std::size_t members = 1 + random() % 6;
    for (std::size_t i = 0; i < members; ++i) {
      from.push_back({i, static_cast<unsigned>(1 + random() % 20), 0});
      total += from.back().weight;
    }
    RoundRobin policy(members);
    for (int round = 0; round < 3; ++round) {
      std::vector<unsigned> count(members, 0);
      for (unsigned i = 0; i < total; ++i) ++count[from[policy.choose(from, 0)].member];
      for (const Option& option : from) CHECK(count[option.member] == option.weight);
    }
  }
}

TEST_CASE("round robin: without one of them the others go on in their proportion") {
  RoundRobin policy(3);
  const auto all = options({1, 1, 2});
  const std::vector<Option> rest = {all[0], all[2]};
  chosen(policy, all, 5);
  std::array<int, 3> count{};
  for (int i = 0; i < 300; ++i) ++count[rest[policy.choose(rest, 0)].member];
  CHECK(count[0] >= 99);
  CHECK(count[0] <= 101);
  CHECK(count[1] == 0);
  const std::string back = chosen(policy, all, 8);
  CHECK(std::count(back.begin(), back.end(), 'b') == 2);  // no burst for the one that was away
}

TEST_CASE("least requests: the fewest in flight for its weight") {
  LeastRequests policy(3);
  CHECK(policy.choose(std::vector<Option>{{0, 1, 3}, {1, 1, 2}, {2, 1, 4}}, 0) == 1);
  CHECK(policy.choose(std::vector<Option>{{0, 1, 3}, {1, 4, 8}, {2, 1, 4}}, 0) == 1);
  CHECK(policy.choose(std::vector<Option>{{0, 10, 29}, {1, 1, 3}}, 0) == 0);
  CHECK(policy.choose(std::vector<Option>{{2, 1, 5}}, 0) == 0);
}

TEST_CASE("least requests: ties are rotated, by weight") {
  LeastRequests even(3);
  CHECK(chosen(even, options({1, 1, 1}), 6) == "abcabc");
  LeastRequests weighted(2);
  CHECK(chosen(weighted, options({2, 1}), 6) == "abaaba");
}

TEST_CASE("least requests: a tie among some leaves out the loaded") {
  LeastRequests policy(3);
  const std::vector<Option> from = {{0, 1, 1}, {1, 1, 5}, {2, 1, 1}};
  CHECK(chosen(policy, from, 4) == "acac");
}

// Requests of random length, many at a time: the counts in flight keep the proportion of weights.
TEST_CASE("least requests: load in flight follows the weights") {
  std::mt19937 random(11);
  LeastRequests policy(3);
  std::vector<Option> state = options({1, 2, 3});
  std::vector<std::size_t> running;
  std::array<double, 3> sum{};
  for (int step = 0; step < 20000; ++step) {
    const std::size_t member = state[policy.choose(state, 0)].member;
    ++state[member].in_flight;
    running.push_back(member);
    if (running.size() > 60) {
      const std::size_t at = random() % running.size();
      --state[running[at]].in_flight;
      running[at] = running.back();
      running.pop_back();
    }
    for (std::size_t i = 0; i < 3; ++i) sum[i] += state[i].in_flight;
  }
  CHECK(sum[1] / sum[0] == Approx(2.0).epsilon(0.1));
  CHECK(sum[2] / sum[0] == Approx(3.0).epsilon(0.1));
}

}  // namespace
}  // namespace portico::balancer
