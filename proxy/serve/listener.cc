#include "proxy/serve/listener.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "proxy/net/socket.h"
#include "proxy/serve/server.h"

namespace portico::serve {
namespace {

// Clients accepted in one turn at most: enough to empty the queue of a burst, few enough that those
// who are served already do not wait for it.
constexpr int most_a_turn = 64;
// Turns that found as many clients as they looked for, before the next one looks for more.
constexpr int turns_to_trust = 4;
// How long to wait when descriptors or memory have run out and nothing of ours ends.
constexpr auto pause_time = std::chrono::milliseconds(100);

// Accepted sockets inherit it: no call for each of them. Fails on Unix sockets, where it is not
// needed.
void send_without_delay(int fd) {
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

}  // namespace

Listener::Listener(Server& server, core::Fd fd, std::string_view name)
    : core::Active(server.loop()),
      server_(server),
      fd_(std::move(fd)),
      name_(name),
      address_(net::local_address(fd_.get())),
      watch_(server.loop(), *this),
      pause_(*this) {
  send_without_delay(fd_.get());
  watch_.open(fd_.get());
  watch_.want(core::readable);
}

void Listener::on_ready(int) noexcept { wake(); }

void Listener::resume() {
  if (paused()) pause_.set(loop().now());
}

void Listener::pause() {
  pause_.set_after(pause_time);
  watch_.want(0);
}

void Listener::advance() {
  if (paused() && !pause_.due()) return;
  pause_.clear();
  watch_.want(core::readable);
  for (int count = 0; count < clients_a_turn_; ++count)
    if (accept_one() == Took::none) return;
  if (++full_turns_ < turns_to_trust) return;
  full_turns_ = 0;
  clients_a_turn_ = std::min(2 * clients_a_turn_, most_a_turn);
}

Listener::Took Listener::accept_one() {
  using Outcome = net::Accepted::Outcome;
  net::Accepted accepted = net::accept_from(fd_.get());
  switch (accepted.outcome) {
    case Outcome::accepted:
      server_.accept_client(std::move(accepted.fd), accepted.peer, *this);
      return Took::one;
    case Outcome::aborted:
      return Took::one;
    case Outcome::wait:
      clients_a_turn_ = 1;
      full_turns_ = 0;
      return Took::none;
    case Outcome::exhausted:
      server_.refuse_with_reserve(fd_.get());
      break;
    case Outcome::failed:
      break;
  }
  pause();
  return Took::none;
}

}  // namespace portico::serve
