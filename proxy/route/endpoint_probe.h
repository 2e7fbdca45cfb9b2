// EndpointProbe: asks one endpoint whether it is well, again and again, and keeps its state.
//
// Owned by a PoolWatch, run by the loop of front thread 0. A probe connects; where the pool's
// health has a path it also asks for it by GET and looks at the status. Any of a name's addresses
// will do, within one timeout.
#pragma once

#include <memory>
#include <string>

#include "balancer/health.h"
#include "conf/config.h"
#include "proxy/client/connections.h"
#include "proxy/client/dialer.h"
#include "proxy/client/stream.h"
#include "proxy/core/timer.h"
#include "proxy/route/live_pool.h"

namespace portico::route {

class EndpointProbe final : public core::Active {
 public:
  /// pool  is only watched; connections  of this thread, which keep none of a probe's
  EndpointProbe(client::Connections& connections, client::Dialer& dialer,
                const std::shared_ptr<LivePool>& pool, std::size_t member);

  enum class Urgency : bool { when_due, now };
  /// Begins a probe, unless one is under way, none is due, or the endpoint's name is unresolved.
  void consider(Urgency urgency);
  void advance() override;

 private:
  enum class State : std::uint8_t {
    resting,     // until consider() finds it due
    connecting,  // from its begin
    asking,      // connected, and there is a path to ask for
    reading,     // the status was good: the answer is read to its end, so as to close politely
  };
  /// Of an answer's body: a health page is short.
  static constexpr std::uint64_t most_body_bytes = 64 * 1024;

  bool step();
  void begin();
  bool dial();
  bool connect();
  bool try_next(const core::Error& error);
  bool ask(std::unique_ptr<net::Transport> transport);
  bool read_status();
  bool read_body();
  bool finish(balancer::Probed result, const core::Error& error);
  void tell(balancer::Condition before, const core::Error& error) const;

  client::Connections& connections_;
  client::Dialer& dialer_;
  std::weak_ptr<LivePool> pool_;
  std::shared_ptr<LiveEndpoint> endpoint_;
  std::string pool_name_;
  conf::Health health_;
  http::Headers fields_;  // of the question
  std::string host_;

  State state_ = State::resting;
  core::Time next_{};  // the first at once
  core::Timer timer_;
  LiveEndpoint::Addresses addresses_;
  std::size_t address_ = 0;
  std::uint64_t body_bytes_ = 0;
  std::unique_ptr<client::Dial> dial_;
  std::unique_ptr<client::Stream> stream_;
};

}  // namespace portico::route
