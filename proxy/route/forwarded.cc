#include "proxy/route/forwarded.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "proxy/core/text.h"
#include "proxy/http/authority.h"
#include "proxy/http/field_list.h"
#include "proxy/http/hop.h"
#include "proxy/http/name_set.h"
#include "proxy/route/address_text.h"
#include "proxy/route/forwarded_field.h"

namespace portico::route {
namespace {

using Family = net::Address::Family;

// Names that nobody but us may tell.
constexpr auto ours =
    http::name_set("x-forwarded-for", "x-forwarded-proto", "x-forwarded-host", "x-real-ip",
                   "x-request-id", "forwarded", "proxy", "script-name", "path-info");

// Names by which proxies and content networks tell who asks, with which scheme, or for what: from a
// client they are lies, from a trusted proxy they pass. So is whatever begins with X-Forwarded-.
constexpr auto of_proxies = http::name_set(
    "cf-connecting-ip", "cf-connecting-ipv6", "client-ip", "fastly-client-ip", "front-end-https",
    "true-client-ip", "x-appengine-user-ip", "x-azure-clientip", "x-client-ip",
    "x-cluster-client-ip", "x-envoy-external-address", "x-host", "x-original-host",
    "x-original-url", "x-originating-ip", "x-rewrite-url", "x-scheme", "x-url-scheme");

constexpr std::string_view family_prefix = "x-forwarded-";

bool for_proxies_only(std::string_view name) {
  return name.starts_with(family_prefix) || of_proxies.has(name);
}

// The name that a CGI-like naming could take this one for.
std::string folded(std::string_view name) {
  std::string out(name);
  for (char& c : out) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (!plain) c = '-';
  }
  return out;
}

std::string ip_text(const net::Address& address) {
  return address.ip_bytes().empty() ? std::string() : address.host_text();
}

// The last value of a list field: what the nearest proxy said.
std::string_view last_item(const http::Headers& fields, std::string_view name) {
  std::string_view last;
  for (const http::Field& field : fields) {
    if (field.name == name)
      http::for_each_item(field.value, [&last](std::string_view item) { last = item; });
  }
  return last;
}

std::optional<bool> secure_scheme(std::string_view proto) {
  if (core::equal_ignoring_case(proto, "https") || core::equal_ignoring_case(proto, "wss"))
    return true;
  if (core::equal_ignoring_case(proto, "http") || core::equal_ignoring_case(proto, "ws"))
    return false;
  return std::nullopt;
}

void believe_scheme(Origin& origin, std::string_view proto) {
  if (const auto secure = secure_scheme(proto)) origin.secure = *secure;
}

void believe_host(Origin& origin, std::string_view host) {
  if (host.empty()) return;
  if (const auto authority = http::canonical_host(host))
    origin.host = http::host_text(authority->host, authority->port);
}

std::vector<ForwardedElement> forwarded_elements(const http::Headers& fields) {
  std::string all;
  for (const http::Field& field : fields) {
    if (field.name != "forwarded") continue;
    if (!all.empty()) all.append(", ");
    all.append(field.value);
  }
  auto elements = parse_forwarded(all);
  return elements ? std::move(*elements) : std::vector<ForwardedElement>();
}

std::vector<std::string> listed(const http::Headers& fields, std::string_view name) {
  std::vector<std::string> items;
  for (const http::Field& field : fields) {
    if (field.name == name)
      http::for_each_item(field.value,
                          [&items](std::string_view item) { items.emplace_back(item); });
  }
  return items;
}

}  // namespace

bool Forwarded::trusts(const net::Address& address) const {
  return std::any_of(trusted_.begin(), trusted_.end(),
                     [&address](const net::Network& range) { return range.contains(address); });
}

// From the right: a hop is believed when the one to its right, which names it, is trusted.
std::size_t Forwarded::walk(Origin& origin, const std::vector<std::string>& hops) const {
  std::size_t at = hops.size();
  while (at > 0 && trusts(origin.client)) {
    const auto named = parse_node(hops[at - 1]);
    if (!named) break;
    --at;
    origin.client = *named;
    origin.chain.insert(0, ip_text(*named) + (origin.chain.empty() ? "" : ", "));
  }
  return at;
}

void Forwarded::believe_x_fields(Origin& origin, const http::Headers& fields) const {
  walk(origin, listed(fields, "x-forwarded-for"));
  believe_scheme(origin, last_item(fields, "x-forwarded-proto"));
  believe_host(origin, last_item(fields, "x-forwarded-host"));
}

// The element that names the client was written by the proxy that the client spoke to.
void Forwarded::believe_forwarded(Origin& origin, const http::Headers& fields) const {
  const std::vector<ForwardedElement> elements = forwarded_elements(fields);
  std::vector<std::string> hops;
  hops.reserve(elements.size());
  for (const ForwardedElement& element : elements) hops.push_back(element.from);
  const std::size_t at = walk(origin, hops);
  if (at == elements.size()) return;
  believe_scheme(origin, elements[at].proto);
  believe_host(origin, elements[at].host);
}

void Forwarded::believe(Origin& origin, const http::Headers& fields) const {
  if (fields.has("x-forwarded-for") || fields.has("x-forwarded-proto") ||
      fields.has("x-forwarded-host")) {
    believe_x_fields(origin, fields);
  } else if (fields.has("forwarded")) {
    believe_forwarded(origin, fields);
  } else {
    walk(origin, listed(fields, "x-real-ip"));
  }
}

Origin Forwarded::origin(const serve::Exchange& exchange) const {
  const serve::Connection& connection = exchange.connection();
  Origin origin;
  origin.client = connection.client;
  origin.secure = connection.secure;
  origin.chain = ip_text(connection.client);
  origin.by_trusted_proxy = trusts(connection.client);
  if (origin.by_trusted_proxy) believe(origin, exchange.request().fields);
  return origin;
}

bool untold(std::string_view name, bool by_trusted_proxy) {
  if (http::folds(name)) {
    if (name.find('_') != std::string_view::npos) return true;
    const std::string twin = folded(name);
    return ours.has(twin) || for_proxies_only(twin);
  }
  return ours.has(name) || (!by_trusted_proxy && for_proxies_only(name));
}

void tell_origin(http::Headers& fields, const Origin& origin, std::string_view request_id) {
  fields.remove_if(
      [&origin](const http::Field& field) { return untold(field.name, origin.by_trusted_proxy); });
  if (!origin.chain.empty()) {
    const core::Slice chain = core::Slice::copy(origin.chain);
    fields.keep(chain);
    fields.add_fit("x-forwarded-for", chain.view());
    fields.add_fit("x-real-ip", chain.view().substr(0, chain.view().find(',')));
  }
  fields.add_fit("x-forwarded-proto", origin.secure ? "https" : "http");
  if (!origin.host.empty()) {
    fields.add_copy("x-forwarded-host", origin.host);
  } else if (const std::string_view* host = fields.find("host")) {
    fields.add_fit("x-forwarded-host", *host);
  }
  fields.add_fit("x-request-id", request_id);
}

}  // namespace portico::route
