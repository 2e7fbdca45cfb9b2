// Session: one client connection speaking one protocol, as its server sees it.
//
// Owned by the server's list of sessions; a session that has finished tells the server, which
// retires it. Runs in the server's thread.
#pragma once

#include "proxy/core/list.h"
#include "proxy/core/loop.h"
#include "proxy/serve/connection_counts.h"
#include "proxy/serve/exchange.h"

namespace portico::serve {

struct OpenSession;  // tag: every session of a server
struct IdleSession;  // tag: those between two requests, least recently used first

class Session : public core::Active,
                public core::Link<OpenSession>,
                public core::Link<IdleSession> {
 public:
  /// counting  how the connection was counted in, which is how it is counted out
  Session(core::Loop& loop, ConnectionCounts::Counting counting)
      : core::Active(loop), counting_(counting) {}

  /// Finish what runs, tell the client that no more will be served, then leave. At once when idle.
  virtual void drain() = 0;
  /// Ends now; what runs is cut so that the client can tell.
  virtual void abort() = 0;
  virtual const Connection& connection() const = 0;
  ConnectionCounts::Counting counting() const { return counting_; }

 private:
  const ConnectionCounts::Counting counting_;
};

}  // namespace portico::serve
