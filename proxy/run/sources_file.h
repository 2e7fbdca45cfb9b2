// SourcesFile: the texts of a configuration in a sealed memory file, on their way to the front.
//
// Written once by the supervisor, which alone may read the operator's files; every front that it
// starts gets the same descriptor and loads the texts again (conf/load.h). Sealed, so that neither
// side can change what the other reads.
#pragma once

#include "conf/load.h"
#include "proxy/core/fd.h"
#include "proxy/core/result.h"

namespace portico::run {

/// Errors: Fault::internal with errno.
core::Result<core::Fd> seal_sources(const conf::Sources& sources);

/// Reads from the start, whatever the descriptor's offset.
/// Errors: Fault::internal; os is 0 when the file is no such file.
core::Result<conf::Sources> unseal_sources(int fd);

}  // namespace portico::run
