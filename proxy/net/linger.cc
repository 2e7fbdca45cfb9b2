#include "proxy/net/linger.h"

#include <algorithm>
#include <utility>

namespace portico::net {
namespace {

using core::Flow;

// What one turn reads and discards before others have their turn.
constexpr std::uint64_t turn_bytes = 1024 * 1024;
constexpr std::size_t read_bytes = 128 * 1024;

}  // namespace

void Linger::start(core::Loop& loop, std::unique_ptr<Transport> transport,
                   const LingerLimits& limits) {
  loop.adopt(std::make_unique<Linger>(loop, std::move(transport), limits));
}

Linger::Linger(core::Loop& loop, std::unique_ptr<Transport> transport, const LingerLimits& limits)
    : Active(loop),
      transport_(std::move(transport)),
      limits_(limits),
      end_(loop.now() + limits.total),
      timer_(*this) {
  transport_->attach(this);
  transport_->finish_sending();
  timer_.set_after(limits_.silence);
}

// Both sides move at once: a client that only reads when it has sent all would else wait for us,
// and we for it.
void Linger::advance() {
  const std::uint64_t before = transport_->sent() + discarded_;
  const Flow sending = transport_->flush();
  const Flow receiving = discard();
  const bool moved = transport_->sent() + discarded_ != before;
  const bool finished = sending == Flow::end && receiving == Flow::end;
  const bool failed = sending == Flow::fail || receiving == Flow::fail;
  const bool late = loop().now() >= end_ || (timer_.due() && !moved);
  if (finished || failed || late || discarded_ >= limits_.bytes) {
    loop().dismiss(*this);
    return;
  }
  if (moved) timer_.set(std::min(end_, loop().now() + limits_.silence));
}

Flow Linger::discard() {
  for (std::uint64_t read = 0; read < turn_bytes;) {
    const Arrival arrival = transport_->read(read_bytes);
    if (arrival.flow != Flow::data) return arrival.flow;
    read += core::length(arrival.piece);
    discarded_ += core::length(arrival.piece);
  }
  wake();
  return Flow::wait;
}

}  // namespace portico::net
