#include "conf/words.h"

#include <catch2/catch.hpp>

using namespace portico::conf;

namespace {

/// The plain recursive definition, without swaps: slow and obvious.
std::size_t slow_distance(std::string_view a, std::string_view b) {
  if (a.empty() || b.empty()) return a.size() + b.size();
  const std::size_t replaced =
      slow_distance(a.substr(1), b.substr(1)) + (a.front() == b.front() ? 0 : 1);
  return std::min({replaced, slow_distance(a.substr(1), b) + 1, slow_distance(a, b.substr(1)) + 1});
}

std::vector<std::string> strings_over_ab(std::size_t longest) {
  std::vector<std::string> out{""};
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (out[i].size() == longest) break;
    out.push_back(out[i] + "a");
    out.push_back(out[i] + "b");
  }
  return out;
}

}  // namespace

TEST_CASE("edit distance: as the recursive definition, less one for each swap that helps") {
  for (const std::string& a : strings_over_ab(4)) {
    for (const std::string& b : strings_over_ab(4)) {
      CAPTURE(a, b);
      const std::size_t distance = edit_distance(a, b);
      CHECK(distance <= slow_distance(a, b));
      CHECK(2 * distance >= slow_distance(a, b));
      CHECK(distance == edit_distance(b, a));
    }
  }
  CHECK(edit_distance("listen", "lisen") == 1);
  CHECK(edit_distance("listen", "lsiten") == 1);
  CHECK(edit_distance("timeouts", "timeout") == 1);
  CHECK(edit_distance("abc", "xyz") == 3);
}

TEST_CASE("nearest: a small slip is recognised, another word is not") {
  const std::vector<std::string_view> keys{"listen", "limits", "log", "to"};
  CHECK(nearest("lisen", keys) == "listen");
  CHECK(nearest("Limits", keys) == "limits");
  CHECK(nearest("logs", keys) == "log");
  CHECK(nearest("ot", keys) == "to");
  CHECK(nearest("x", keys).empty());
  CHECK(nearest("server", keys).empty());
  CHECK(nearest("", keys).empty());
  CHECK(nearest(std::string(100, 'l'), keys).empty());
}

TEST_CASE("quoted: one line, whatever the text holds") {
  CHECK(quoted("plain") == "\"plain\"");
  CHECK(quoted("a\"b\\c") == "\"a\\\"b\\\\c\"");
  CHECK(quoted("a\nb\x1b[31m") == "\"a\\x0ab\\x1b[31m\"");
  CHECK(quoted(std::string(61, 'a')) == "\"" + std::string(60, 'a') + "...\"");
  CHECK(quoted(std::string(59, 'a') + "\xC3\xBC") == "\"" + std::string(59, 'a') + "...\"");
}

TEST_CASE("words: split at spaces, listed for a sentence") {
  CHECK(split_words("").empty());
  CHECK(split_words("a bc d") == std::vector<std::string_view>{"a", "bc", "d"});
  CHECK(listed({}).empty());
  CHECK(listed({"a"}) == "a");
  CHECK(listed({"a", "b", "c"}) == "a, b or c");
}
