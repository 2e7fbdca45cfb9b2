// CodeWatch: notices that an application's code has changed: a file that was touched, or, for
// development, any Python source under its directory.
//
// Owned by an ApplicationService; the supervisor's thread. It looks now and then instead of waiting
// for the kernel's notices: those do not exist on network file systems and on many shared folders,
// and one look is one stat (or one for each source, in development).
#pragma once

#include <cstdint>
#include <string>

#include "conf/config.h"
#include "proxy/core/loop.h"
#include "proxy/core/timer.h"

namespace portico::backend {

class CodeWatch {
 public:
  /// owner  is woken when it is time to look
  CodeWatch(core::Active& owner, const conf::Application& application);

  /// Looks, where it is time to. True: what was found differs from what was found before.
  bool has_changed();

 private:
  void look();

  const conf::Application& application_;
  core::Timer timer_;
  std::uint64_t touched_ = 0;
  std::uint64_t sources_ = 0;
};

}  // namespace portico::backend
