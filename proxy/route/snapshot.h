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

class AccessLog;
class ApplicationHost;
class Counters;
class ErrorPages;
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

class Snapshot : public std::enable_shared_from_this<Snapshot> {
 public:
  /// Compiles what conf::load() made without problems. Never fails: a log that cannot be opened
  /// loses its lines, a pool or application that is away answers by its handler.
  static std::shared_ptr<const Snapshot> compile(conf::Config config, Surroundings& around);
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;
  ~Snapshot();

  const conf::Config& config() const { return config_; }
  /// What sessions start exchanges with. It keeps this snapshot alive.
  std::shared_ptr<const serve::Root> root() const;

 private:
  explicit Snapshot(conf::Config config);
  void build(Surroundings& around);

  conf::Config config_;
  std::unique_ptr<const AccessLog> journal_;  // of requests that reach no site
  std::unique_ptr<const ErrorPages> pages_;
  std::unique_ptr<serve::Root> root_;
};

}  // namespace portico::route
