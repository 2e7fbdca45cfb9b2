// Service: something with children that the supervisor starts, watches and stops, such as the
// workers of one application. Implemented outside (backend/host) and injected by main; the
// supervisor's thread.
#pragma once

#include <sys/types.h>

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/core/fd.h"
#include "proxy/core/loop.h"
#include "proxy/process/progress.h"
#include "proxy/process/recent_lines.h"
#include "proxy/process/report.h"

namespace portico::process {

/// The way from a service to its counterpart in the front process.
class FrontLink {
 public:
  virtual ~FrontLink() = default;
  /// Sends `text` with (borrowed) descriptors to the counterpart of the service of that name.
  virtual void tell(std::string_view service, std::string_view text, std::span<const int> fds) = 0;
  virtual unsigned front_threads() const = 0;
};

class Service {
 public:
  virtual ~Service() = default;

  virtual std::string_view name() const = 0;  ///< that of the application, unique
  virtual void start() = 0;
  /// A front is there (at the start, and after a crash of the one before): it is told what belongs
  /// to it; the link stays valid until front_down.
  virtual void front_up(FrontLink& link) = 0;
  virtual void front_down() = 0;
  /// The counterpart in the front said something.
  virtual void hear(std::string_view text, std::vector<core::Fd> fds) = 0;
  /// A child (or an orphan of one: we are subreaper) has ended. True: it was one of ours.
  virtual bool child_ended(pid_t pid, int wait_status) = 0;
  /// Finish what runs, then leave; at the deadline, kill.
  virtual void stop(core::Time deadline) = 0;
  virtual bool stopped()
      const = 0;  ///< no child is left; the supervisor is woken when this changes
  /// It has never served, and its start has failed; the supervisor is woken when this becomes true.
  virtual bool is_stillborn() const = 0;
  virtual void reopen_logs() = 0;
  /// Brings new code into use, or keeps the old and says why. One at a time: another one is
  /// refused. progress  null: nobody but the log hears
  virtual void deploy(std::unique_ptr<Progress> progress) = 0;

  /// What is known of it now.
  virtual ServiceReport report() const = 0;
  /// What its processes wrote lately; that of its whole site.
  virtual RecentLines& recent_lines() = 0;
};

}  // namespace portico::process
