// Linger: the end of a connection whose peer may still be sending, such as a client that was
// answered 413 in the middle of its upload.
//
// Closing a socket with unread bytes makes the kernel send a reset, and the reset destroys the
// answer before the client has read it (RFC 9112 §9.6). So: send what is queued, shut down the
// sending side, read and discard until the peer's end, a deadline or a limit. Owned by the loop
// (Loop::adopt), which it leaves by itself; one thread.
#pragma once

#include <cstdint>
#include <memory>

#include "proxy/core/loop.h"
#include "proxy/core/timer.h"
#include "proxy/net/transport.h"

namespace portico::net {

struct LingerLimits {
  core::Duration total = std::chrono::seconds(10);   ///< nobody may hold a descriptor for longer
  core::Duration silence = std::chrono::seconds(2);  ///< without a byte read or sent
  std::uint64_t bytes = 64u << 20;                   ///< read and discarded
};

class Linger final : public core::Active {
 public:
  /// Takes the transport over, with whatever it has not sent yet.
  static void start(core::Loop& loop, std::unique_ptr<Transport> transport,
                    const LingerLimits& limits = {});

  Linger(core::Loop& loop, std::unique_ptr<Transport> transport, const LingerLimits& limits);
  void advance() override;

 private:
  core::Flow discard();

  std::unique_ptr<Transport> transport_;
  LingerLimits limits_;
  std::uint64_t discarded_ = 0;
  core::Time end_;
  core::Timer timer_;  // the end of the silence
};

}  // namespace portico::net
