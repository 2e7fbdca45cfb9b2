// Listener: one listening socket of a server, and its accept loop.
//
// Owned by the server, in whose thread it runs. Level-triggered: what is not accepted in one turn
// is reported again in the next. When descriptors run out it pauses, and nothing spins.
#pragma once

#include <string_view>

#include "proxy/core/fd.h"
#include "proxy/core/loop.h"
#include "proxy/core/timer.h"
#include "proxy/core/watch.h"
#include "proxy/net/address.h"

namespace portico::serve {

class Server;

class Listener final : public core::Active, private core::ReadyListener {
 public:
  /// fd    bound, listening, non-blocking
  /// name  lives as long as the server
  Listener(Server& server, core::Fd fd, std::string_view name);

  std::string_view name() const { return name_; }
  const net::Address& address() const { return address_; }
  bool paused() const { return pause_.is_set(); }
  /// A descriptor is about to be freed: accepts again from the next turn on.
  void resume();

  void advance() override;

 private:
  enum class Took : bool { one, none };
  Took accept_one();
  void pause();
  void on_ready(int readiness) noexcept override;

  Server& server_;
  core::Fd fd_;
  std::string_view name_;
  net::Address address_;
  // Doubled while turns find as many, 1 after one did not: a call in vain makes a socket and throws
  // it away, which costs as much as a client.
  int clients_a_turn_ = 1;
  int full_turns_ = 0;
  core::Watch watch_;
  core::Timer pause_;
};

}  // namespace portico::serve
