// A small, fixed set of names that is asked for every field of every message. Pure; any thread.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "proxy/core/text.h"
#include "proxy/http/name_bits.h"

namespace portico::http {

/// Names in lower case, shorter than 64. A name that is not in it is nearly always told by its
/// length and first letter together.
template <std::size_t count>
class NameSet {
 public:
  constexpr explicit NameSet(const std::array<std::string_view, count>& names) : names_(names) {
    for (std::string_view name : names) {
      letters_[name.size()] |= letter(name);
      bits_ |= name_bit(name);
    }
  }

  constexpr NameBits bits() const { return bits_; }

  /// name  in any case
  bool has(std::string_view name) const {
    if (name.empty() || name.size() >= letters_.size()) return false;
    if ((letters_[name.size()] & letter(name)) == 0) return false;
    for (std::string_view known : names_) {
      if (known.size() == name.size() && core::equal_ignoring_case(known, name)) return true;
    }
    return false;
  }

 private:
  // The same bit for both cases.
  static constexpr std::uint32_t letter(std::string_view name) {
    return std::uint32_t{1} << (static_cast<std::uint8_t>(name.front()) & 31);
  }

  std::array<std::string_view, count> names_;
  std::array<std::uint32_t, 64> letters_{};  ///< first letters of the names of each length
  NameBits bits_ = 0;
};

template <typename... Names>
constexpr auto name_set(Names... names) {
  return NameSet<sizeof...(names)>(std::array<std::string_view, sizeof...(names)>{names...});
}

}  // namespace portico::http
