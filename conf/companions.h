// Reads `processes` of a site or route: companions, each with its command.
//
// Used by conf/handlers while loading; its thread. config.h has the meaning.
#pragma once

#include "conf/config.h"
#include "conf/reader.h"

namespace portico::conf {

void read_companions(Reader& reader, const Node& node, Application& into);

}  // namespace portico::conf
