// ApplicationHost: where a snapshot gets the handlers of WSGI applications from.
//
// Implemented outside (an adapter over backend/front) and injected by main, since route and backend
// do not know each other. Called in the thread that compiles a snapshot; what it returns is used by
// every front thread.
#pragma once

#include <memory>

#include "conf/config.h"
#include "proxy/serve/handler.h"

namespace portico::route {

class ApplicationHost {
 public:
  virtual ~ApplicationHost() = default;
  /// What answers for the application at this route; never null. An application that does not run
  /// (yet) has a handler too, which waits for it or fails with site_unavailable.
  virtual std::shared_ptr<const serve::Handler> handler(const conf::Application& application,
                                                        const conf::Route& route) = 0;
};

}  // namespace portico::route
