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
  Route own{"/", ToPool{}, config_.timeouts, config_.limits, site.where};
  read_timeouts(reader, mapping, own.timeouts);
  read_limits(reader, mapping, own.limits);
  const Node* routes = mapping.find("routes");
  if (routes == nullptr || has_handler(mapping)) {
    const auto handler = read_handler(reader, entry.key, mapping, {site.name, own}, config_);
    if (handler) site.routes.push_back({"/", *handler, own.timeouts, own.limits, own.where});
  } else {
    refuse_application_keys(reader, mapping);
  }
  if (routes != nullptr) read_routes(reader, *routes, own, site);
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
  if (*text == default_site) {
    reader.refuse(node, "\"default\" is no host; write it as a site's key");
    return;
  }
  const auto host = reader.accept(node, parse_host(*text));
  if (!host) return;
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

void SiteReader::read_routes(Reader& reader, const Node& node, const Route& inherited, Site& site) {
  const auto& entries = reader.named(node, "paths and what answers there: {/api/: {to: api}}");
  for (const bool is_root : {true, false}) {  // "/" comes first, wherever it is written
    for (const Entry& entry : entries) {
      if ((entry.key.text == "/") == is_root) read_route(reader, entry, inherited, site);
    }
  }
  const bool holds_routes = node.kind == Node::Kind::null || node.kind == Node::Kind::mapping;
  if (holds_routes && entries.empty() && site.routes.empty()) {
    reader.refuse(node, "no routes stand here; write {/: {to: \"127.0.0.1:8000\"}}");
  }
}

void SiteReader::read_route(Reader& reader, const Entry& entry, const Route& inherited,
                            Site& site) {
  const auto path = reader.accept(entry.key, parse_route_path(entry.key.text));
  const Mapping mapping(reader, entry.value, route_section);
  Route route{path.value_or("/"), ToPool{}, inherited.timeouts, inherited.limits,
              reader.at(entry.key)};
  read_timeouts(reader, mapping, route.timeouts);
  read_limits(reader, mapping, route.limits);
  const Route* same = path ? find_route(site, *path) : nullptr;
  if (same != nullptr) {
    reader.refuse(entry.key, "the path " + quoted(entry.key.text) + " is the same as in line " +
                                 std::to_string(same->where.line) + "; write it once");
  }
  const auto handler = read_handler(reader, entry.key, mapping, {site.name, route}, config_);
  if (!handler || !path || same != nullptr) return;
  route.handler = *handler;
  site.routes.push_back(std::move(route));
}

}  // namespace portico::conf
