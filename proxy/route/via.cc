#include "proxy/route/via.h"

#include <string>

#include "proxy/http/field_list.h"

namespace portico::route {
namespace {

// "1.1 name" or "HTTP/1.1 name (comment)": the second word.
bool names(std::string_view item, std::string_view instance) {
  const auto blank = item.find_first_of(" \t");
  if (blank == std::string_view::npos) return false;
  const std::string_view rest = core::trim(item.substr(blank));
  return core::equal_ignoring_case(rest.substr(0, rest.find_first_of(" \t")), instance);
}

std::string_view short_version(http::Version version) {
  switch (version) {
    case http::Version::http10:
      return "1.0 ";
    case http::Version::http11:
      return "1.1 ";
    case http::Version::http2:
      return "2.0 ";
  }
  return "";
}

}  // namespace

bool came_through(const http::Headers& fields, std::string_view instance) {
  bool found = false;
  for (const http::Field& field : fields) {
    if (field.name != "via") continue;
    http::for_each_item(field.value,
                        [&](std::string_view item) { found |= names(item, instance); });
  }
  return found;
}

void add_via(http::RequestHead& head, std::string_view instance) {
  std::string value(short_version(head.version));
  head.fields.add_copy("via", value.append(instance));
}

}  // namespace portico::route
