// A set of names in one word, to tell quickly what is not in it. Pure; any thread.
#pragma once

#include <cstdint>
#include <string_view>

namespace portico::http {

/// One bit a name, by its length, first and last letter in either case: sets without a common bit
/// have no name in common, others may have one.
using NameBits = std::uint64_t;

constexpr NameBits name_bit(std::string_view name) {
  if (name.empty()) return 0;
  const auto letter = [](char c) { return static_cast<unsigned>(c) & 31; };
  const auto place = name.size() * 11 + letter(name.front()) * 3 + letter(name.back());
  return NameBits{1} << (place & 63);
}

}  // namespace portico::http
