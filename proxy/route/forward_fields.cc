#include "proxy/route/forward_fields.h"

#include <algorithm>
#include <array>

#include "proxy/http/hop.h"

namespace portico::route {
namespace {

constexpr std::array<std::string_view, 5> commands = {"x-accel-redirect", "x-lighttpd-send-file",
                                                      "x-lighttpd-sendfile", "x-reproxy-url",
                                                      "x-sendfile"};

bool command(std::string_view name) {
  return name.starts_with("x-") &&
         std::find(commands.begin(), commands.end(), name) != commands.end();
}

}  // namespace

void prepare_response(http::ResponseHead& head) {
  http::drop_response_hop_fields(head.fields);
  head.fields.remove_if([](const http::Field& field) { return command(field.name); });
}

}  // namespace portico::route
