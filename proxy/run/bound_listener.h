// BoundListener: the sockets of one listener of the configuration.
//
// Bound and owned by the supervisor for its whole life, so that clients who come while no front is
// there wait in the backlog instead of being refused. Fronts get duplicates.
#pragma once

#include <string>
#include <vector>

#include "conf/config.h"
#include "proxy/core/fd.h"
#include "proxy/core/result.h"

namespace portico::run {

struct BoundListener {
  std::string name;  ///< as it stands in the configuration
  /// For people: "http://localhost:8080", with the real port where 0 was asked for; "unix:/path".
  std::string url;
  std::string reach;  ///< what else it takes: "every address of this machine"; mostly empty
  /// One per front thread (the kernel spreads clients over them: SO_REUSEPORT), or one for a Unix
  /// socket, which all threads share.
  std::vector<core::Fd> sockets;
  std::string unix_path;  ///< to be removed at the end; empty for TCP

  /// The socket for a front thread; borrowed.
  int socket_of(unsigned thread) const { return sockets[thread % sockets.size()].get(); }
};

/// Errors: those of net::listen_on. An address that somebody else listens on is EADDRINUSE, also
/// when that is another Portico of the same user, with whom the kernel would let us share.
core::Result<BoundListener> bind_listener(const conf::Listener& listener, unsigned threads);

/// One sentence: what went wrong and what may help.
std::string why_not_bound(const conf::Listener& listener, const core::Error& error);

}  // namespace portico::run
