#include "proxy/route/methods.h"

#include <algorithm>
#include <array>

namespace portico::route {
namespace {

// Sorted by bytes.
constexpr std::array<std::string_view, 39> registered = {"ACL",
                                                         "BASELINE-CONTROL",
                                                         "BIND",
                                                         "CHECKIN",
                                                         "CHECKOUT",
                                                         "CONNECT",
                                                         "COPY",
                                                         "DELETE",
                                                         "GET",
                                                         "HEAD",
                                                         "LABEL",
                                                         "LINK",
                                                         "LOCK",
                                                         "MERGE",
                                                         "MKACTIVITY",
                                                         "MKCALENDAR",
                                                         "MKCOL",
                                                         "MKREDIRECTREF",
                                                         "MKWORKSPACE",
                                                         "MOVE",
                                                         "OPTIONS",
                                                         "ORDERPATCH",
                                                         "PATCH",
                                                         "POST",
                                                         "PROPFIND",
                                                         "PROPPATCH",
                                                         "PUT",
                                                         "QUERY",
                                                         "REBIND",
                                                         "REPORT",
                                                         "SEARCH",
                                                         "TRACE",
                                                         "UNBIND",
                                                         "UNCHECKOUT",
                                                         "UNLINK",
                                                         "UNLOCK",
                                                         "UPDATE",
                                                         "UPDATEREDIRECTREF",
                                                         "VERSION-CONTROL"};
static_assert(std::is_sorted(registered.begin(), registered.end()));

}  // namespace

bool registered_method(std::string_view method) {
  if (method == "GET" || method == "POST") return true;
  return std::binary_search(registered.begin(), registered.end(), method);
}

bool forbidden_method(std::string_view method) { return method == "TRACE" || method == "CONNECT"; }

}  // namespace portico::route
