#include "proxy/process/recent_lines.h"

#include <catch2/catch.hpp>
#include <string>

using portico::process::RecentLines;

namespace {

std::string from(const RecentLines& lines, std::uint64_t position) {
  return std::string(lines.from(position, SIZE_MAX));
}

}  // namespace

TEST_CASE("recent lines: the tail has as many as are asked for, or all there are") {
  RecentLines lines;
  CHECK(from(lines, lines.tail(3)).empty());
  for (const char* line : {"one", "", "three"}) lines.append(line);
  CHECK(from(lines, lines.tail(0)).empty());
  CHECK(from(lines, lines.tail(1)) == "three\n");
  CHECK(from(lines, lines.tail(2)) == "\nthree\n");
  CHECK(from(lines, lines.tail(3)) == "one\n\nthree\n");
  CHECK(from(lines, lines.tail(100)) == "one\n\nthree\n");
}

TEST_CASE("recent lines: the oldest give way, whole, and positions go on") {
  RecentLines lines;
  const std::string line(99, 'x');
  for (int i = 0; i < 10'000; ++i) lines.append(std::to_string(i) + line);
  CHECK(lines.end() - lines.begin() <= RecentLines::capacity);
  CHECK(lines.end() - lines.begin() > RecentLines::capacity / 2);
  CHECK(from(lines, lines.tail(1)) == "9999" + line + "\n");
  const std::string kept = from(lines, lines.begin());
  CHECK(kept.substr(kept.find('x'), 100) == line + "\n");  // it begins with a whole line
}

TEST_CASE("recent lines: a line larger than the whole is cut") {
  RecentLines lines;
  for (int i = 0; i < 3; ++i) lines.append(std::string(2 * RecentLines::capacity, 'x'));
  CHECK(lines.end() - lines.begin() <= RecentLines::capacity);
}

TEST_CASE("recent lines: what would lead a terminal astray is escaped, and the time stands there") {
  RecentLines lines;
  lines.append_with_time("a\x1b[31m\"b\"");
  CHECK(from(lines, lines.begin()).ends_with("Z a\\x1b[31m\"b\"\n"));
}
