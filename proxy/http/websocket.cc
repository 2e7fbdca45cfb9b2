#include "proxy/http/websocket.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "proxy/http/field_list.h"
#include "proxy/http/sha1.h"

namespace portico::http {
namespace {

constexpr std::string_view alphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

// RFC 4648 §4 of a digest's 20 bytes: 26 2/3 groups of six bits and one "=".
std::string base64(const std::array<std::uint8_t, 20>& bytes) {
  std::string out;
  std::uint32_t bits = 0;
  int count = 0;
  for (const std::uint8_t byte : bytes) {
    bits = bits << 8 | byte;
    for (count += 8; count >= 6; count -= 6) out += alphabet[bits >> (count - 6) & 63];
  }
  if (count > 0) out += alphabet[bits << (6 - count) & 63];
  while (out.size() % 4 != 0) out += '=';
  return out;
}

// The one value of a field; empty where it is missing or repeated.
std::string_view only(const Headers& fields, std::string_view name) {
  return fields.count(name) == 1 ? *fields.find(name) : std::string_view();
}

// 16 bytes in base64 (RFC 6455 §4.1 (7)).
bool valid_key(std::string_view key) {
  return key.size() == 24 && key.substr(22) == "==" &&
         key.substr(0, 22).find_first_not_of(alphabet) == std::string_view::npos;
}

bool proper(const RequestHead& request) {
  const bool bodiless_get = request.method == "GET" && request.framing.length == 0 &&
                            request.framing.kind != Framing::Kind::chunked;
  return bodiless_get && lists(request.fields, "connection", "upgrade") &&
         only(request.fields, "sec-websocket-version") == "13" &&
         valid_key(only(request.fields, "sec-websocket-key"));
}

}  // namespace

core::Result<bool> websocket_upgrade(const RequestHead& request) {
  // RFC 9110 §7.8: an Upgrade in HTTP/1.0 is ignored.
  if (request.version != Version::http11) return false;
  if (!lists(request.fields, "upgrade", "websocket")) return false;
  if (proper(request)) return true;
  return core::Error{core::Fault::upgrade_refused, 0, "reading the WebSocket handshake"};
}

bool websocket_accepted(const RequestHead& request, const ResponseHead& response) {
  const Headers& fields = response.fields;
  return response.status == 101 &&
         core::equal_ignoring_case(only(fields, "upgrade"), "websocket") &&
         lists(fields, "connection", "upgrade") &&
         only(fields, "sec-websocket-accept") ==
             websocket_accept(only(request.fields, "sec-websocket-key"));
}

std::string websocket_accept(std::string_view key) {
  constexpr std::string_view guid = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";  // RFC 6455 §1.3
  return base64(sha1(std::string(key).append(guid)));
}

}  // namespace portico::http
