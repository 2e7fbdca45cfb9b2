#include "conf/units.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>

#include "conf/words.h"

namespace portico::conf {
namespace {

using std::chrono::milliseconds;

struct Unit {
  std::string_view name;
  std::uint64_t factor;
};

// Largest first: the order in which they may be written.
constexpr std::array<Unit, 4> time_units{{{"h", 3'600'000}, {"m", 60'000}, {"s", 1000}, {"ms", 1}}};
constexpr std::array<Unit, 7> size_units{{{"GiB", 1ULL << 30},
                                          {"MiB", 1ULL << 20},
                                          {"KiB", 1ULL << 10},
                                          {"GB", 1'000'000'000},
                                          {"MB", 1'000'000},
                                          {"KB", 1000},
                                          {"B", 1}}};

/// Takes the digits at the front of `text`; nullopt where there are none, or too many for 64 bits.
std::optional<std::uint64_t> take_digits(std::string_view& text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end == text.data()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

/// Takes the letters at the front of `text`.
std::string_view take_letters(std::string_view& text) {
  const std::size_t end = std::min(text.find_first_of("0123456789"), text.size());
  const std::string_view letters = text.substr(0, end);
  text.remove_prefix(end);
  return letters;
}

template <std::size_t N>
std::size_t unit_index(const std::array<Unit, N>& units, std::string_view name) {
  const auto at = std::find_if(units.begin(), units.end(), [&](auto& u) { return u.name == name; });
  return static_cast<std::size_t>(at - units.begin());
}

std::optional<std::uint64_t> multiply(std::uint64_t a, std::uint64_t b) {
  if (b != 0 && a > std::numeric_limits<std::uint64_t>::max() / b) return std::nullopt;
  return a * b;
}

/// The sum of all parts in milliseconds; nullopt for what is no duration or is out of range.
std::optional<std::uint64_t> duration_sum(std::string_view text) {
  constexpr auto most = static_cast<std::uint64_t>(longest_duration.count());
  std::uint64_t sum = 0;
  std::size_t next_unit = 0;
  while (!text.empty()) {
    const auto digits = take_digits(text);
    const std::size_t unit = unit_index(time_units, take_letters(text));
    if (!digits || unit < next_unit || unit == time_units.size()) return std::nullopt;
    const auto part = multiply(*digits, time_units[unit].factor);
    if (!part || *part > most - sum) return std::nullopt;
    sum += *part;
    next_unit = unit + 1;
  }
  return sum;
}

bool all_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

Outcome<milliseconds> parse_duration(std::string_view text) {
  if (all_digits(text)) {
    return refused<milliseconds>(quoted(text) + " has no unit; write " +
                                 quoted(std::string(text) + "s") + " or " +
                                 quoted(std::string(text) + "ms"));
  }
  const auto sum = duration_sum(text);
  if (!sum || *sum == 0) {
    return refused<milliseconds>(quoted(text) +
                                 " is not a duration; write whole numbers with h, m, s or ms, "
                                 "such as \"10s\" or \"1h30m\", from \"1ms\" to \"24h\"");
  }
  return found(milliseconds(static_cast<std::int64_t>(*sum)));
}

Outcome<std::uint64_t> parse_size(std::string_view text) {
  if (all_digits(text)) {
    return refused<std::uint64_t>(quoted(text) + " has no unit; write " +
                                  quoted(std::string(text) + "B") + " or " +
                                  quoted(std::string(text) + "KiB"));
  }
  std::string_view rest = text;
  const auto digits = take_digits(rest);
  const std::size_t unit = unit_index(size_units, rest);
  std::optional<std::uint64_t> bytes;
  if (digits && unit < size_units.size()) bytes = multiply(*digits, size_units[unit].factor);
  if (!bytes) {
    return refused<std::uint64_t>(quoted(text) +
                                  " is not a size; write a whole number with B, KB, KiB, MB, MiB, "
                                  "GB or GiB, such as \"32KiB\"");
  }
  return found(*bytes);
}

Outcome<std::uint64_t> parse_number(std::string_view text, std::uint64_t least,
                                    std::uint64_t most) {
  std::uint64_t value = 0;
  const std::errc error = std::from_chars(text.data(), text.data() + text.size(), value).ec;
  const bool whole = all_digits(text) && error == std::errc();
  const bool padded = text.size() > 1 && text.front() == '0';
  if (!whole || padded || value < least || value > most) {
    return refused<std::uint64_t>(quoted(text) + " does not fit; write a whole number from " +
                                  std::to_string(least) + " to " + std::to_string(most));
  }
  return found(value);
}

Outcome<unsigned> parse_percent(std::string_view text, unsigned least, unsigned most) {
  const bool has_sign = text.ends_with('%');
  const auto number = parse_number(text.substr(0, text.size() - (has_sign ? 1 : 0)), least, most);
  if (has_sign && number) return found(static_cast<unsigned>(*number.value));
  return refused<unsigned>(quoted(text) +
                           " is not a share; write a whole number with a percent sign, such as "
                           "\"10%\", from " +
                           quoted(std::to_string(least) + "%") + " to " +
                           quoted(std::to_string(most) + "%"));
}

std::string duration_text(milliseconds duration) {
  auto rest = static_cast<std::uint64_t>(duration.count());
  std::string out;
  for (const Unit& unit : time_units) {
    if (rest < unit.factor) continue;
    out += std::to_string(rest / unit.factor);
    out += unit.name;
    rest %= unit.factor;
  }
  return out;
}

std::string size_text(std::uint64_t bytes) {
  for (const Unit& unit : size_units) {
    const bool binary = (unit.factor & (unit.factor - 1)) == 0;
    if (!binary || bytes == 0 || bytes % unit.factor != 0) continue;
    return std::to_string(bytes / unit.factor) + std::string(unit.name);
  }
  return "0B";
}

}  // namespace portico::conf
