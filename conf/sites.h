// Reads sites: their hosts, their routes, what they inherit.
//
// Lives as long as one load(), which gives it every site of every file; its thread.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "conf/config.h"
#include "conf/reader.h"

namespace portico::conf {

/// Adds sites to a configuration whose top and named pools have been read.
class SiteReader {
 public:
  explicit SiteReader(Config& config) : config_(config) {}

  /// One entry under `sites:`.
  void read(Reader& reader, const Entry& entry);

 private:
  void add_host(Reader& reader, const Node& node, Site& site);
  void claim_host(Reader& reader, const Node& node, const std::string& host);
  void read_hosts(Reader& reader, const Entry& entry, const Mapping& mapping, Site& site);
  /// What a route takes from its site.
  struct Inherited {
    const Route& own;  ///< timeouts, limits, request
    bool has_root;     ///< something is written that answers "/", and so what has no handler
  };

  void read_routes(Reader& reader, const Node& node, Inherited inherited, Site& site);
  void read_route(Reader& reader, const Entry& entry, const Inherited& inherited, Site& site);
  std::optional<Handler> read_route_handler(Reader& reader, const Entry& entry,
                                            const Mapping& mapping, const Route& route,
                                            bool has_root, const Site& site);
  void add_route(Reader& reader, const Node& owner, const Mapping& mapping, Route route,
                 const Handler& handler, Site& site);

  Config& config_;
  std::map<std::string, Position> hosts_;  // who has which host, over all files
};

}  // namespace portico::conf
