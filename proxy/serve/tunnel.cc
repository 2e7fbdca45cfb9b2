#include "proxy/serve/tunnel.h"

#include <algorithm>
#include <utility>

namespace portico::serve {
namespace {

using core::Flow;

// One read's room, and how many reads a direction may take before others have their turn.
constexpr std::size_t read_bytes = 64 * 1024;
constexpr int reads_a_turn = 8;

}  // namespace

Tunnel::Tunnel(core::Active& owner, net::Transport& client, std::unique_ptr<net::Transport> peer,
               core::Slice early)
    : peer_(std::move(peer)), to_peer_{client, *peer_}, to_client_{*peer_, client} {
  peer_->attach(&owner);
  if (early.empty()) return;
  to_peer_.bytes = early.size();
  peer_->send(std::move(early));
}

Tunnel::State Tunnel::move() {
  const State up = to_peer_.move();
  const State down = to_client_.move();
  if (up == State::broken || down == State::broken) return State::broken;
  if (up == State::closed && down == State::closed) return State::closed;
  return up == State::busy || down == State::busy ? State::busy : State::open;
}

Tunnel::State Tunnel::Lane::move() {
  const State filled = ended ? State::closed : fill();
  if (filled == State::broken || to.flush() == Flow::fail) return State::broken;
  const bool waits_for_room = filled == State::busy && to.unsent() >= net::Transport::low_water;
  const bool not_gone_yet = filled == State::closed && to.unsent() > 0;
  return waits_for_room || not_gone_yet ? State::open : filled;
}

Tunnel::State Tunnel::Lane::fill() {
  for (int count = 0; count < reads_a_turn && to.unsent() < net::Transport::low_water; ++count) {
    net::Arrival arrival = from.read(read_bytes, net::Splice::allowed);
    if (arrival.flow == Flow::wait) return State::open;
    if (arrival.flow == Flow::fail) return State::broken;
    if (arrival.flow == Flow::end) {
      ended = true;
      to.finish_sending();
      return State::closed;
    }
    bytes += core::length(arrival.piece);
    to.send(std::move(arrival.piece));
  }
  return State::busy;
}

}  // namespace portico::serve
