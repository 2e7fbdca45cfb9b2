#include "proxy/http/hop.h"

#include <algorithm>
#include <array>
#include <string>

#include "proxy/core/text.h"
#include "proxy/http/chars.h"
#include "proxy/http/field_list.h"
#include "proxy/http/name_set.h"

namespace portico::http {
namespace {

constexpr auto hop_names =
    name_set("connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding",
             "content-length", "upgrade", "http2-settings");

constexpr auto usual_options =
    name_set("close", "keep-alive", "upgrade", "te", "http2-settings", "proxy-connection");

// Of requests only: answered or used up by us, or never to be believed.
constexpr auto request_names =
    name_set("expect", "proxy", "proxy-authorization", "script-name", "path-info");

constexpr auto response_names = name_set("proxy-authenticate", "proxy-authentication-info");

// Names whose loss would change who is asked, for what, by whom, or what is answered.
constexpr auto protected_names =
    name_set("host", "authorization", "cookie", "set-cookie", "origin", "referer", "forwarded",
             "via", "cdn-loop", "date", "server", "location", "vary", "age", "expires", "etag",
             "pragma", "range", "if-range", "if-match", "if-none-match", "if-modified-since",
             "if-unmodified-since", "accept", "accept-encoding", "cache-control", "max-forwards",
             "www-authenticate", "traceparent", "tracestate", "early-data",
             "strict-transport-security", "remote-user", "x-real-ip", "x-request-id", "x-csrftoken",
             "x-csrf-token", "x-requested-with", "x-frame-options", "x-content-type-options");

constexpr std::array<std::string_view, 4> protected_prefixes = {"content-", "x-forwarded-", "sec-",
                                                                "access-control-"};

constexpr auto allowed_trailers = name_set(
    "digest", "content-digest", "repr-digest", "content-md5", "grpc-status", "grpc-message",
    "grpc-status-details-bin", "server-timing", "x-amz-checksum-crc32", "x-amz-checksum-sha256");

// The name that a CGI-like naming would take this for.
std::string folded(std::string_view name) {
  std::string out = core::lower_copy(name);
  std::replace_if(
      out.begin(), out.end(), [](char c) { return !chars::is(c, chars::plain); }, '-');
  return out;
}

// Whether Connection lists a name that does not go anyway.
bool lists_others(const Headers& fields) {
  bool others = false;
  if (!fields.may_have(name_bit("connection"))) return others;
  for (const Field& field : fields) {
    if (field.name != "connection") continue;
    for_each_item(field.value, [&](std::string_view item) { others |= !usual_options.has(item); });
  }
  return others;
}

void drop_listed(Headers& fields) {
  if (!lists_others(fields)) return;
  const Headers received = fields;
  fields.remove_if([&](const Field& field) {
    return !protected_name(field.name) && lists(received, "connection", field.name);
  });
}

}  // namespace

void drop_request_hop_fields(Headers& fields) {
  drop_listed(fields);
  if (!fields.may_have(hop_names.bits() | request_names.bits())) return;
  fields.remove_if([](const Field& field) {
    return hop_names.has(field.name) || request_names.has(field.name);
  });
}

void drop_response_hop_fields(Headers& fields) {
  drop_listed(fields);
  if (!fields.may_have(hop_names.bits() | response_names.bits())) return;
  fields.remove_if([](const Field& field) {
    return hop_names.has(field.name) || response_names.has(field.name);
  });
}

bool protected_name(std::string_view name) {
  return protected_names.has(name) ||
         std::any_of(
             protected_prefixes.begin(), protected_prefixes.end(),
             [&](std::string_view prefix) { return name.substr(0, prefix.size()) == prefix; });
}

bool accepts_trailers(const Headers& fields) { return lists(fields, "te", "trailers"); }

void drop_forbidden_trailers(Headers& trailers) {
  trailers.remove_if([](const Field& field) { return !allowed_trailers.has(field.name); });
}

bool folds(std::string_view name) { return !chars::all(name, chars::plain); }

void drop_folding_names(Headers& fields) {
  fields.remove_if([](const Field& field) { return folds(field.name); });
}

void drop_folding_twins(Headers& fields) {
  const auto any = std::any_of(fields.begin(), fields.end(),
                               [](const Field& field) { return folds(field.name); });
  if (!any) return;
  const Headers received = fields;
  fields.remove_if([&](const Field& field) {
    if (!folds(field.name)) return false;
    const std::string twin = folded(field.name);
    return protected_name(twin) || hop_names.has(twin) || request_names.has(twin) ||
           std::any_of(received.begin(), received.end(), [&](const Field& other) {
             return other.name != field.name && folded(other.name) == twin;
           });
  });
}

}  // namespace portico::http
