// Reads pools and their endpoints.
//
// Called by load() only; its thread.
#pragma once

#include "conf/config.h"
#include "conf/reader.h"

namespace portico::conf {

/// One entry under `pools:`; nothing comes back when not even its name can be used.
std::optional<Pool> read_pool(Reader& reader, const Entry& entry, const Limits& defaults);

/// Addresses, one or several, with or without weights. Empty only after a problem.
std::vector<Endpoint> read_endpoints(Reader& reader, const Node& node);

}  // namespace portico::conf
