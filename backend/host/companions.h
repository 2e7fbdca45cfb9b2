// Companions: the processes that a site has beside its workers (`processes`).
//
// Owned by an ApplicationService; its thread. They begin once the application has come up for the
// first time, whatever becomes of it later, and begin anew with the code of each deploy.
#pragma once

#include <sys/types.h>

#include <memory>
#include <vector>

#include "backend/host/companion.h"
#include "proxy/process/memory_kills.h"

namespace portico::backend {

class Companions {
 public:
  /// owner  is woken when it is time to call check()
  Companions(core::Active& owner, const conf::Application& application, const HostOptions& options,
             process::SiteLog& log);

  /// The code is up: starts them, once.
  void begin(const conf::Application& code);
  /// Other code serves from now on.
  void renew(const conf::Application& code);
  void stop(core::Time deadline);
  bool stopped() const;
  void check();  ///< what is due
  /// True: it was one of them.
  /// kills  explains it
  bool child_ended(pid_t pid, int wait_status, process::MemoryKills& kills);
  std::vector<process::CompanionReport> report() const;

 private:
  std::vector<std::unique_ptr<Companion>> all_;
  bool has_begun_ = false;
  bool is_stopping_ = false;
};

}  // namespace portico::backend
