#include "proxy/route/forward_fields.h"

#include "proxy/http/hop.h"
#include "proxy/http/name_set.h"

namespace portico::route {
namespace {

constexpr auto commands = http::name_set("x-accel-redirect", "x-lighttpd-send-file",
                                         "x-lighttpd-sendfile", "x-reproxy-url", "x-sendfile");

}  // namespace

void prepare_response(http::ResponseHead& head) {
  http::drop_response_hop_fields(head.fields);
  if (!head.fields.may_have(commands.bits())) return;
  head.fields.remove_if([](const http::Field& field) { return commands.has(field.name); });
}

}  // namespace portico::route
