#include "proxy/route/router.h"

#include <utility>

#include "proxy/http/authority.h"
#include "proxy/http/hop.h"
#include "proxy/http/target.h"
#include "proxy/route/request_id.h"

namespace portico::route {
namespace {

core::Error refusal(core::Fault fault) { return {fault, 0, "routing the request"}; }

// An ID from a trusted proxy is taken over, so that one request has one ID in all logs.
void identify(serve::Exchange& exchange, const Origin& origin) {
  serve::Trace& trace = exchange.trace();
  trace.client = origin.client;
  trace.secure = origin.secure;
  const std::string_view* given = exchange.request().fields.find("x-request-id");
  const bool believed =
      given != nullptr && origin.by_trusted_proxy && acceptable_request_id(*given);
  trace.request_id = believed ? core::Slice::copy(*given) : new_request_id();
}

bool default_port(std::uint16_t port, bool secure) { return port == (secure ? 443 : 80); }

// One canonical Host for everybody behind us: that by which the site was found, without the port
// that the scheme implies.
void settle_host(http::RequestHead& head, bool secure) {
  http::Target& where = head.where;
  if (where.host.empty()) return;
  if (default_port(where.port, secure)) where.port = 0;
  const std::string_view* told = head.fields.find("host");
  const std::string text = http::host_text(where.host, where.port);
  if (told != nullptr && *told == text) return;
  const core::Slice kept = core::Slice::copy(text);
  head.fields.keep(kept);
  head.fields.set("host", kept.view());
}

// An absolute target with a scheme that neither our connection nor the client behind a trusted
// proxy speaks means another origin (RFC 9110 §7.4).
bool other_scheme(const serve::Exchange& exchange) {
  const std::string_view scheme = exchange.request().where.scheme;
  const auto speaks = [scheme](bool secure) { return scheme == (secure ? "https" : "http"); };
  return !scheme.empty() && !speaks(exchange.connection().secure) &&
         !speaks(exchange.trace().secure);
}

// "OPTIONS *" to a site that has no handler of its own: about the server as a whole, so about us
// (RFC 9110 §9.3.7).
bool asks_server(const http::RequestHead& head) {
  return head.where.form == http::Target::Form::asterisk;
}

void answer_options(serve::Exchange& exchange) {
  http::ResponseHead head;
  head.status = 204;
  head.fields.add("allow", "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS");
  exchange.respond(std::move(head), nullptr);
}

}  // namespace

Router::Router(Hosts hosts, std::vector<std::unique_ptr<const Site>> sites, Forwarded forwarded,
               std::string instance)
    : hosts_(std::move(hosts)),
      sites_(std::move(sites)),
      forwarded_(std::move(forwarded)),
      via_(std::move(instance)) {}

std::unique_ptr<serve::Task> Router::start(serve::Exchange& exchange) const {
  const Origin origin = forwarded_.origin(exchange);
  identify(exchange, origin);
  const auto route = choose(exchange);
  if (!route) {
    exchange.fail(route.error());
    return nullptr;
  }
  if (*route == nullptr) {
    answer_options(exchange);
    return nullptr;
  }
  pass_on(exchange, **route, origin);
  return (*route)->handler().start(exchange);
}

core::Result<const Site*> Router::enter_site(serve::Exchange& exchange) const {
  const http::RequestHead& head = exchange.request();
  const Site* site = hosts_.find(head.where.host);
  if (site == nullptr || other_scheme(exchange)) return refusal(core::Fault::unknown_host);
  exchange.trace().site = site->name();
  exchange.report_to(site->journal());
  if (via_.circle(head.fields)) return refusal(core::Fault::loop_detected);
  if (!site->serves(head.method)) return refusal(core::Fault::method_refused);
  return site;
}

// Null: nobody's but ours, see asks_server.
core::Result<const Route*> Router::choose(serve::Exchange& exchange) const {
  const auto site = enter_site(exchange);
  if (!site) return site.error();
  http::Target& where = exchange.mutable_request().where;
  if (const auto done = http::canonicalise(where, (*site)->path_rules()); !done)
    return done.error();
  const Route* route = (*site)->find(where.path);
  if (route == nullptr && asks_server(exchange.request())) return route;
  if (route == nullptr) return refusal(core::Fault::no_route);
  exchange.trace().route = route->path();
  if (const auto admitted = route->admit(exchange); !admitted) return admitted.error();
  return route;
}

// What belongs to the hop is dropped before anything of ours is added. The forwarder does it
// itself, since it has to look for an upgrade first: Connection cannot name what is added here
// (http/hop).
void Router::pass_on(serve::Exchange& exchange, const Route& route, const Origin& origin) const {
  http::RequestHead& head = exchange.mutable_request();
  if (!route.over_http()) {
    http::drop_request_hop_fields(head.fields);
    http::drop_folding_names(head.fields);
  }
  settle_host(head, origin.secure);
  tell_origin(head.fields, origin, exchange.trace().request_id.view());
  if (route.over_http()) via_.add(head);
}

}  // namespace portico::route
