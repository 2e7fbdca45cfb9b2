// A small, fixed set of names that is asked for every field of every message. Pure; any thread.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "proxy/core/text.h"

namespace portico::http {

/// Names in lower case, shorter than 64. Most names that are not in it are told by their length.
template <std::size_t count>
class NameSet {
 public:
  constexpr explicit NameSet(const std::array<std::string_view, count>& names) : names_(names) {
    for (std::string_view name : names) lengths_ |= std::uint64_t{1} << name.size();
  }

  /// name  in any case
  bool has(std::string_view name) const {
    if (name.size() >= 64 || (lengths_ >> name.size() & 1) == 0) return false;
    for (std::string_view known : names_) {
      if (core::equal_ignoring_case(known, name)) return true;
    }
    return false;
  }

 private:
  std::array<std::string_view, count> names_;
  std::uint64_t lengths_ = 0;
};

template <typename... Names>
constexpr auto name_set(Names... names) {
  return NameSet<sizeof...(names)>(std::array<std::string_view, sizeof...(names)>{names...});
}

}  // namespace portico::http
