// The keys of an application that say how many workers it has, how long they live, and what all
// of them together may use.
//
// Used by conf/handlers while loading; its thread. config.h has the meanings.
#pragma once

#include "conf/config.h"
#include "conf/reader.h"

namespace portico::conf {

/// workers, recycle and resources of a site or route with workers of its own.
void read_life_keys(Reader& reader, const Mapping& mapping, Application& into);

}  // namespace portico::conf
