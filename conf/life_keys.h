// The keys of an application that say how many workers it has, and how long they live.
//
// Used by conf/handlers while loading; its thread. config.h has the meanings.
#pragma once

#include "conf/config.h"
#include "conf/reader.h"

namespace portico::conf {

/// workers and recycle of a site or route with workers of its own.
void read_life_keys(Reader& reader, const Mapping& mapping, Application& into);

}  // namespace portico::conf
