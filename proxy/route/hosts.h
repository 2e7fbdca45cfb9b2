// Hosts: which site a host belongs to. Immutable once filled; any thread.
//
// Costs the same with one site or a thousand: a hash of the whole name, then, where there are
// wildcards, one of each suffix.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "conf/config.h"

namespace portico::route {

class Site;

class Hosts {
 public:
  /// Enters the hosts of a site: exact names, wildcards "*.x", and whether it takes what is left.
  void add(const conf::Site& written, const Site& site);

  /// The site of a canonical host: by its exact name, else by the wildcard with the longest suffix
  /// ("*.x" takes "a.x" and "a.b.x", not "x"), else the default site; null without one.
  const Site* find(std::string_view host) const;

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };
  using Table = std::unordered_map<std::string, const Site*, Hash, std::equal_to<>>;

  static const Site* look_up(const Table& table, std::string_view key);

  Table exact_;
  Table suffixes_;  // ".x" of "*.x"
  const Site* default_ = nullptr;
};

}  // namespace portico::route
