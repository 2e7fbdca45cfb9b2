// Comma lists in field values (RFC 9110 §5.6.1), such as Connection's. Pure; any thread.
#pragma once

#include <string_view>

#include "proxy/core/text.h"
#include "proxy/http/head.h"

namespace portico::http {

/// Calls visit(item) for each item that is not empty, blanks trimmed. For lists of tokens only:
/// quoted strings are not understood.
template <typename Visit>
void for_each_item(std::string_view list, Visit&& visit) {
  while (!list.empty()) {
    const auto comma = list.find(',');
    const std::string_view item = core::trim(list.substr(0, comma));
    if (!item.empty()) visit(item);
    list = comma == std::string_view::npos ? std::string_view() : list.substr(comma + 1);
  }
}

/// Whether any field of this (lower-case) name lists `token`, in any case.
inline bool lists(const Headers& fields, std::string_view name, std::string_view token) {
  bool found = false;
  if (!fields.may_have(name_bit(name))) return found;
  for (const Field& field : fields) {
    if (field.name != name) continue;
    for_each_item(field.value,
                  [&](std::string_view item) { found |= core::equal_ignoring_case(item, token); });
  }
  return found;
}

}  // namespace portico::http
