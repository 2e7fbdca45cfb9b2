#include "proxy/route/via.h"

#include <utility>

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

}  // namespace

Via::Via(std::string instance)
    : instance_(std::move(instance)),
      http10_("1.0 " + instance_),
      http11_("1.1 " + instance_),
      http2_("2.0 " + instance_) {}

bool Via::circle(const http::Headers& fields) const {
  bool found = false;
  for (const http::Field& field : fields) {
    if (field.name != "via") continue;
    http::for_each_item(field.value,
                        [&](std::string_view item) { found |= names(item, instance_); });
  }
  return found;
}

std::string_view Via::value(http::Version version) const {
  switch (version) {
    case http::Version::http10:
      return http10_;
    case http::Version::http11:
      return http11_;
    case http::Version::http2:
      return http2_;
  }
  return {};
}

void Via::add(http::RequestHead& head) const { head.fields.add_fit("via", value(head.version)); }

}  // namespace portico::route
