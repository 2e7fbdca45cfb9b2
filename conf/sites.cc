#include "conf/sites.h"

#include <algorithm>

#include "conf/handlers.h"
#include "conf/names.h"
#include "conf/settings.h"
#include "conf/words.h"

namespace portico::conf {
namespace {

constexpr std::string_view default_site = "default";

/// "/api" and "/api/" stand for the same segments.
std::string_view segments(std::string_view path) {
  if (path.ends_with('/')) path.remove_suffix(1);
  return path;
}

const Route* find_route(const Site& site, std::string_view path) {
  const auto at = std::find_if(site.routes.begin(), site.routes.end(), [&](const Route& route) {
    return segments(route.path) == segments(path);
  });
  return at == site.routes.end() ? nullptr : &*at;
}

/// `request` makes sense only where a worker's thread can wait for the client.
void settle_request(Reader& reader, const Node& owner, const Mapping& mapping, const Config& config,
                    Route& route) {
  const Node* node = mapping.find("request");
  const auto* to = std::get_if<ToApplication>(&route.handler);
  if (to == nullptr) {
    route.request = Handover::complete;
    if (node == nullptr) return;
    return reader.refuse(mapping.key("request"),
                         "\"request\" belongs to \"wsgi\": endpoints get each body as it comes; "
                         "take it out");
  }
  const Application* application = find_application(config, to->application);
  if (route.request != Handover::stream || application->threads != 0) return;
  reader.refuse(
      node == nullptr ? owner : *node,
      "\"request: stream\" needs threads that wait for the client, and with \"threads: 0\" "
      "the front itself would wait; write \"threads: 1\" or more for the application, or "
      "\"request: complete\" here");
}

std::string standing(const Position& where) {
  return where.file + ":" + std::to_string(where.line);
}

}  // namespace

void SiteReader::read(Reader& reader, const Entry& entry) {
  const Mapping mapping(reader, entry.value, site_section);
  Site site;
  site.where = reader.at(entry.key);
  site.log = config_.log;
  read_hosts(reader, entry, mapping, site);
  reader.read_bool(mapping.find("merge_slashes"), site.merge_slashes);
  reader.read_bool(mapping.find("unsafe_encoded_slashes"), site.unsafe_encoded_slashes);
  reader.read_bool(mapping.find("unsafe_unknown_methods"), site.unsafe_unknown_methods);
  read_log(reader, mapping, site.log);
  Route own{.path = "/",
            .handler = {},
            .timeouts = config_.timeouts,
            .limits = config_.limits,
            .where = site.where};
  read_route_settings(reader, mapping, own);
  const Node* routes = mapping.find("routes");
  const bool answers = has_handler(mapping);
  if (routes == nullptr || answers) {
    const auto handler = read_handler(reader, entry.key, mapping, {site.name, own}, config_);
    if (handler) add_route(reader, entry.key, mapping, own, *handler, site);
  } else {
    refuse_application_keys(reader, mapping);
  }
  if (routes != nullptr) read_routes(reader, *routes, {own, answers}, site);
  config_.sites.push_back(std::move(site));
}

void SiteReader::claim_host(Reader& reader, const Node& node, const std::string& host) {
  const auto [owner, is_new] = hosts_.emplace(host, reader.at(node));
  if (is_new) return;
  reader.refuse(node, "the host " + quoted(host) + " is taken at " + standing(owner->second) +
                          "; write it in one site");
}

void SiteReader::add_host(Reader& reader, const Node& node, Site& site) {
  const std::string* text = reader.word(node, "a host such as \"www.shop.example\"");
  if (text == nullptr) return;
  const auto host = reader.accept(node, parse_host(*text));
  if (!host) return;
  if (*host == default_site) {
    reader.refuse(node, "\"default\" is no host; write it as a site's key, in lower case");
    return;
  }
  claim_host(reader, node, *host);
  site.hosts.push_back(*host);
}

void SiteReader::read_hosts(Reader& reader, const Entry& entry, const Mapping& mapping,
                            Site& site) {
  if (entry.key.text == default_site) {
    site.is_default = true;
    claim_host(reader, entry.key, entry.key.text);
  } else {
    add_host(reader, entry.key, site);
  }
  site.name = site.hosts.empty() ? entry.key.text : site.hosts.front();  // "default" has none yet
  const Node* aliases = mapping.find("aliases");
  if (aliases == nullptr) return;
  for (const Node* alias : reader.list(*aliases, "hosts such as [www.shop.example]")) {
    add_host(reader, *alias, site);
  }
}

void SiteReader::read_routes(Reader& reader, const Node& node, Inherited inherited, Site& site) {
  const auto& entries = reader.named(node, "paths and what answers there: {/api/: {to: api}}");
  for (const bool is_root : {true, false}) {  // "/" comes first, wherever it is written
    for (const Entry& entry : entries) {
      if ((entry.key.text == "/") != is_root) continue;
      read_route(reader, entry, inherited, site);
      inherited.has_root = inherited.has_root || is_root;
    }
  }
  const bool holds_routes = node.kind == Node::Kind::null || node.kind == Node::Kind::mapping;
  if (holds_routes && entries.empty() && site.routes.empty()) {
    reader.refuse(node, "no routes stand here; write {/: {to: \"127.0.0.1:8000\"}}");
  }
}

void SiteReader::read_route(Reader& reader, const Entry& entry, const Inherited& inherited,
                            Site& site) {
  const auto path = reader.accept(entry.key, parse_route_path(entry.key.text));
  const Mapping mapping(reader, entry.value, route_section);
  Route route = inherited.own;
  route.path = path.value_or("/");
  route.where = reader.at(entry.key);
  read_route_settings(reader, mapping, route);
  const Route* same = path ? find_route(site, *path) : nullptr;
  if (same != nullptr) {
    reader.refuse(entry.key, "the path " + quoted(entry.key.text) + " is the same as in line " +
                                 std::to_string(same->where.line) + "; write it once");
  }
  const auto handler = read_route_handler(reader, entry, mapping, route, inherited.has_root, site);
  if (!handler || !path || same != nullptr) return;
  add_route(reader, entry.key, mapping, route, *handler, site);
}

/// Its own, or that of "/" for a route that only sets something else.
std::optional<Handler> SiteReader::read_route_handler(Reader& reader, const Entry& entry,
                                                      const Mapping& mapping, const Route& route,
                                                      bool has_root, const Site& site) {
  if (has_handler(mapping) || !has_root || mapping.empty())
    return read_handler(reader, entry.key, mapping, {site.name, route}, config_);
  refuse_application_keys(reader, mapping);
  const Route* root = find_route(site, "/");
  return root == nullptr ? std::nullopt : std::optional(root->handler);  // refused already
}

void SiteReader::add_route(Reader& reader, const Node& owner, const Mapping& mapping, Route route,
                           const Handler& handler, Site& site) {
  route.handler = handler;
  settle_request(reader, owner, mapping, config_, route);
  site.routes.push_back(std::move(route));
}

}  // namespace portico::conf
