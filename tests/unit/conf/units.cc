#include "conf/units.h"

#include <catch2/catch.hpp>

using namespace portico::conf;
using std::chrono::milliseconds;

TEST_CASE("durations: units add up, largest first") {
  const auto [text, value] = GENERATE(table<std::string, milliseconds>({
      {"1ms", milliseconds(1)},
      {"500ms", milliseconds(500)},
      {"10s", milliseconds(10'000)},
      {"90s", milliseconds(90'000)},
      {"1h30m", milliseconds(5'400'000)},
      {"1h1m1s1ms", milliseconds(3'661'001)},
      {"24h", milliseconds(86'400'000)},
      {"0h5s", milliseconds(5000)},
  }));
  CAPTURE(text);
  CHECK(parse_duration(text).value == value);
}

TEST_CASE("durations: what has no unit, or is none, is refused") {
  const std::string text =
      GENERATE("", "s", "10", "10 s", " 10s", "10s ", "-1s", "+1s", "1.5s", "1s1m", "1s1s", "1d",
               "0s", "25h", "24h1ms", "86400001ms", "99999999999999999999s",
               "18446744073709551615h", "1h30", "10S", "10sec");
  CAPTURE(text);
  CHECK_FALSE(parse_duration(text));
}

TEST_CASE("durations: a bare number is answered with both readings") {
  CHECK(parse_duration("10").problem == "\"10\" has no unit; write \"10s\" or \"10ms\"");
}

TEST_CASE("durations: written and read again they are the same") {
  for (std::int64_t count = 1; count < 90'000'000; count = count * 3 + 7) {
    const milliseconds value(std::min<std::int64_t>(count, longest_duration.count()));
    CAPTURE(value.count(), duration_text(value));
    CHECK(parse_duration(duration_text(value)).value == value);
  }
}

TEST_CASE("sizes: powers of 1000 and of 1024") {
  const auto [text, value] = GENERATE(table<std::string, std::uint64_t>({
      {"0B", 0},
      {"1B", 1},
      {"32KiB", 32768},
      {"32KB", 32000},
      {"1MiB", 1048576},
      {"1MB", 1000000},
      {"2GiB", 2147483648},
      {"2GB", 2000000000},
      {"18446744073709551615B", 18446744073709551615U},
  }));
  CAPTURE(text);
  CHECK(parse_size(text).value == value);
}

TEST_CASE("sizes: what has no unit, overflows, or is none, is refused") {
  const std::string text =
      GENERATE("", "B", "10", "1.5MiB", "-1B", "1kb", "1K", "1M", "1KiBB", " 1B", "1 B",
               "18446744073709551616B", "17179869184GiB", "99999999999999999999999B");
  CAPTURE(text);
  CHECK_FALSE(parse_size(text));
}

TEST_CASE("sizes: written and read again they are the same") {
  for (const std::uint64_t value :
       {0ULL, 1ULL, 1023ULL, 1024ULL, 1025ULL, 1ULL << 20, 1000000ULL, 1ULL << 40, ~0ULL}) {
    CHECK(parse_size(size_text(value)).value == value);
  }
  CHECK(size_text(32768) == "32KiB");
}

TEST_CASE("shares: whole percents") {
  CHECK(parse_percent("0%").value == 0U);
  CHECK(parse_percent("100%").value == 100U);
  CHECK(parse_percent("250%", 1, 300).value == 250U);
  CHECK_FALSE(parse_percent("0%", 1, 300));
  CHECK_FALSE(parse_percent("301%", 1, 300));
  const std::string text = GENERATE("", "%", "10", "101%", "-1%", "1.5%", "10 %", "10%%");
  CAPTURE(text);
  CHECK_FALSE(parse_percent(text));
}

TEST_CASE("numbers: digits within the range, nothing else") {
  CHECK(parse_number("0", 0, 9).value == 0U);
  CHECK(parse_number("9", 0, 9).value == 9U);
  const std::string text = GENERATE("", "10", "-1", "+1", "01", "1.0", "1_0", "0x1", " 1", "1 ",
                                    "two", "18446744073709551617");
  CAPTURE(text);
  CHECK_FALSE(parse_number(text, 0, 9));
}
