// The commands that speak to a running Portico: status, logs, deploy, stop. Main's thread.
#pragma once

#include "proxy/run/options.h"

namespace portico::run {

/// Each returns the exit status, as portico(8) has them.
int show_status(const Options& options);
int show_logs(const Options& options);
int deploy_code(const Options& options);
int stop_running(const Options& options);

}  // namespace portico::run
