// DemandWatch: looks how many requests an application has, while it has any, and tells the
// supervisor how many workers it should have.
//
// Owned by an Application whose workers come and go; front thread 0. It looks from a request's
// arrival on until none is there, and once more when a worker may go: a site at rest costs nothing.
#pragma once

#include "backend/front/demand.h"
#include "proxy/core/loop.h"
#include "proxy/core/timer.h"

namespace portico::backend {

class Application;

class DemandWatch final : public core::Active {
 public:
  DemandWatch(core::Loop& loop, Application& application);

  /// The supervisor says how many there are to be.
  void adopt(unsigned workers);
  /// The application has another state. Once it is ready the supervisor is told what is wanted,
  /// whether that has changed or not.
  void on_state();

  void advance() override;  ///< looks

 private:
  void plan(std::size_t load, std::size_t capacity);

  Application& application_;
  Demand demand_;
  core::Timer timer_;
};

}  // namespace portico::backend
