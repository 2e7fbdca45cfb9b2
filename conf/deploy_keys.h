// The keys of an application that say when and how its code is deployed.
//
// Used by conf/handlers while loading; its thread. config.h has the meanings.
#pragma once

#include "conf/config.h"
#include "conf/reader.h"

namespace portico::conf {

/// touch, reload, before_deploy and warm of a site or route.
void read_deploy_keys(Reader& reader, const Mapping& mapping, Application& into);

/// The words of a command: a list of at least one text without NUL. Empty, with a problem, for
/// anything else.
std::vector<std::string> read_command(Reader& reader, const Node& node);

}  // namespace portico::conf
