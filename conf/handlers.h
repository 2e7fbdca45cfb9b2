// Reads what answers in a site or route: exactly one handler, with what belongs to it.
//
// Adds the application or the inline pool it makes to the configuration, and gives back how the
// route names it. Called by load() only, after all named pools are known; its thread.
#pragma once

#include <optional>

#include "conf/config.h"
#include "conf/reader.h"

namespace portico::conf {

/// Where a handler stands: the site, and the route that is being made (path, timeouts, limits and
/// where are set).
struct Place {
  const std::string& site;
  const Route& route;
};

/// Whether one of the handlers' keys is written.
bool has_handler(const Mapping& mapping);

/// The handler; nothing, after a problem, where there is none or more than one.
/// `owner` is the key that the site or route stands under.
std::optional<Handler> read_handler(Reader& reader, const Node& owner, const Mapping& mapping,
                                    const Place& place, Config& config);

/// Refuses what belongs to a WSGI application where there is none.
void refuse_application_keys(Reader& reader, const Mapping& mapping);

}  // namespace portico::conf
