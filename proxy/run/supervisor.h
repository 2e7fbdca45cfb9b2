// Supervisor: handles no traffic; binds the sockets, keeps the front and the services alive, obeys
// signals.
//
// One per process, made by supervise() on the main thread, which is also the thread that starts all
// children. It runs with the rights that Portico was started with; what clients send never reaches
// it. Design §1 and §8; portico(8), "Signals".
#pragma once

#include "conf/config.h"
#include "conf/load.h"
#include "proxy/run/parts.h"

namespace portico::run {

/// What becomes of us where an application cannot be started.
/// retries  its site answers 503, and it is tried again
/// leaves   there is nobody to serve, and somebody who waits for a word: we end
enum class Stillbirth { retries, leaves };

/// Runs the configuration until it is told to stop. `config` is what load() made of `sources`.
///
/// Returns the exit status: 0 stopped as asked; 1 it could not begin, or left for a stillbirth
/// (told in the log).
int supervise(const conf::Sources& sources, const conf::Config& config, const Parts& parts,
              Stillbirth stillbirth);

}  // namespace portico::run
