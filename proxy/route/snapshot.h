// Snapshot: a configuration compiled for use: router, handlers, journals, error pages. Immutable.
//
// Made by the front at a start or a reload, in any one thread; shared by the front threads and by
// every exchange that began under it (house rule 9), and destroyed with the last of them. What
// outlives snapshots stands in Surroundings.
#pragma once

#include <memory>
#include <string>

#include "conf/config.h"

namespace portico::serve {
struct Root;
}

namespace portico::route {

class ApplicationHost;
class Counters;
class LogFiles;
class Pools;

/// What snapshots share and leave behind; owned by the front, and longer alive than any snapshot.
struct Surroundings {
  ApplicationHost& applications;
  Pools& pools;        ///< endpoints with their state
  LogFiles& logs;      ///< open access logs
  Counters& counters;  ///< requests by site and outcome
  std::string name;    ///< of this instance in Via and Proxy-Status; see instance_name()
};

/// "portico-" and 64 random bits in hexadecimal: tells a request of ours that comes back to us.
std::string instance_name();

class Snapshot {
 public:
  /// Compiles what conf::load() made without problems. Never fails: a log that cannot be opened
  /// loses its lines, a pool or application that is away answers by its handler.
  static std::shared_ptr<const Snapshot> compile(conf::Config config, Surroundings& around);
  virtual ~Snapshot() = default;

  virtual const conf::Config& config() const = 0;
  /// What sessions start exchanges with. It keeps its snapshot alive.
  static std::shared_ptr<const serve::Root> root(std::shared_ptr<const Snapshot> snapshot);

 private:
  virtual const serve::Root& root_part() const = 0;
};

}  // namespace portico::route
