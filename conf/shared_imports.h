// `shared_imports`: which modules sites have imported together, in a process from which their
// zygotes are forked.
//
// Used by conf/settings and conf/handlers while loading; its thread. config.h has the meaning.
#pragma once

#include "conf/config.h"
#include "conf/reader.h"

namespace portico::conf {

/// The list at the top, of a site or of a route; an empty one is none at all.
void read_shared_imports(Reader& reader, const Node* node, std::vector<std::string>& into);

}  // namespace portico::conf
