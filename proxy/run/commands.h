// Commands: what each verb of the command line does. Main's thread.
#pragma once

#include "proxy/run/options.h"
#include "proxy/run/parts.h"

namespace portico::run {

/// Exit statuses, as portico(8) has them.
inline constexpr int exit_good = 0;
inline constexpr int exit_failed = 1;       ///< it could not begin; something is missing or down
inline constexpr int exit_mistake = 2;      ///< mistakes in the file or on the command line
inline constexpr int exit_not_running = 3;  ///< there is no Portico to be asked
inline constexpr int exit_unknown = 4;      ///< it cannot be asked: no permission, no answer

/// The program's name and its arguments in, the exit status out.
int portico_main(int argc, char** argv, const Parts& parts);

}  // namespace portico::run
